package convertcrd

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/internal/corpus"
)

// TestConvertCorpus writes the CRDs of a corpus as v1beta1 has them, and back: what
// comes of it is the CRD that it was, whatever is shared and whatever is left out.
func TestConvertCorpus(t *testing.T) {
	t.Parallel()
	files := corpus.CRDFiles(t)
	for i, file := range files {
		if i%16 != 8 {
			continue
		}
		crd := corpus.ReadCRD(t, file)
		crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
		old := asBeta(t, crd)
		for _, without := range []string{"", "version", "preserveUnknownFields", "validation", "scope"} {
			spec := old["spec"].(map[string]any)
			kept, had := spec[without]
			delete(spec, without)
			text, err := yaml.Marshal(old)
			if err != nil {
				t.Fatal(err)
			}
			var out, stderr bytes.Buffer
			s := cli.Streams{Stdin: bytes.NewReader(text), Stdout: &out, Stderr: &stderr}
			err = Run(t.Context(), s, []string{"-"})
			var exit *cli.ExitError // v1 refuses some
			switch {
			case err != nil && !(errors.As(err, &exit) && exit.Code == cli.Findings):
				t.Errorf("%s without %s: %v", file, without, err)
			case bytes.Contains(out.Bytes(), []byte("v1beta1\nkind: CustomResourceDefinition")):
				t.Errorf("%s without %s: it is as before", file, without)
			case without == "" && !sameSpec(t, crd, out.Bytes()):
				t.Errorf("%s: another CRD", file)
			}
			if had {
				spec[without] = kept
			}
		}
	}
}

// asBeta is a CRD of v1beta1 that does not preserve unknown fields.
func asBeta(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) map[string]any {
	t.Helper()
	internal, beta := &apiextensions.CustomResourceDefinition{}, &v1beta1.CustomResourceDefinition{}
	err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd.DeepCopy(), internal, nil)
	if err == nil {
		err = v1beta1.Convert_apiextensions_CustomResourceDefinition_To_v1beta1_CustomResourceDefinition(internal, beta, nil)
	}
	var out map[string]any
	if err == nil {
		var data []byte
		if data, err = json.Marshal(beta); err == nil {
			err = json.Unmarshal(data, &out)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	out["apiVersion"], out["kind"] = "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"
	delete(out, "status")
	return out
}

func sameSpec(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, text []byte) bool {
	t.Helper()
	crd.APIVersion, crd.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	before, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	was, err := specOf(before)
	return err == nil && same(was, text, change{}) == nil
}

// FuzzConvert: no text makes the conversion panic, and what is converted is not
// converted again.
func FuzzConvert(f *testing.F) {
	const head = "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n"
	for _, text := range []string{
		"metadata: {name: a.b.c}\nspec: {group: b.c, version: v1, names: {kind: A, plural: a}}", "spec: []", "spec: {versions: [{}], version: v1}", "spec: {versions: [1]}", "",
		"spec:\n  version: v1 # c\n  validation: {openAPIV3Schema: {type: object}}\n  additionalPrinterColumns: [{JSONPath: .a}, 1]", "spec: {version: v1, validation: null, subresources: 1}",
		"spec: {version: v1, conversion: {strategy: Webhook, webhookClientConfig: {url: x}}}", "spec: {version: 1, versions: {}}", "spec: {version: !!binary YQ==}",
	} {
		f.Add(head + text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		convert := func(text string) (string, error) {
			var out bytes.Buffer
			err := Run(t.Context(), cli.Streams{Stdin: strings.NewReader(text), Stdout: &out, Stderr: &bytes.Buffer{}}, []string{"-"})
			return out.String(), err
		}
		once, err := convert(text)
		var exit *cli.ExitError
		if err != nil && !errors.As(err, &exit) {
			return
		}
		if _, err := convert(once); err == nil || !strings.HasPrefix(err.Error(), "no CustomResourceDefinition") {
			t.Errorf("%q becomes %q, and again: %v", text, once, err)
		}
	})
}
