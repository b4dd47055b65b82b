package types_test

import (
	"bytes"
	"os"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/newest"
	"github.com/celadon-cel/celadon/internal/testing/schemas"
	"github.com/celadon-cel/celadon/types"
)

func TestCorpusDeclarations(t *testing.T) {
	t.Parallel()
	newest.Skip(t)
	versions := 0
	interner := types.NewInterner()
	for _, file := range corpus.CRDFiles(t) {
		for _, crd := range readCRDs(t, file) {
			for _, v := range crd.Spec.Versions {
				if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
					versions++
					compareVersion(t, interner, file, v.Name, v.Schema.OpenAPIV3Schema)
				}
			}
		}
	}
	t.Logf("%d schemas", versions)
}

func compareVersion(t *testing.T, interner *types.Interner, file, version string, props *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	s, err := schemas.Convert(props)
	if err != nil {
		t.Errorf("%s: %s: %v", file, version, err)
		return
	}
	for _, root := range []bool{true, false} {
		want := upstreamType(s, root)
		for name, d := range map[string]*types.Decl{"alone": types.FromSchema(s, placeOf(root)), "interned": interner.FromSchema(s, placeOf(root))} {
			for _, diff := range diffTypes("self", celenv.DeclType(d, "selfType"), want) {
				t.Errorf("%s: %s: %s: %s", file, version, name, diff)
			}
		}
	}
}

func readCRDs(t *testing.T, file string) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, doc := range bytes.Split(data, []byte("\n---\n")) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(doc, crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		crds = append(crds, crd)
	}
	return crds
}
