package structural

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`1`: true, `{`: false} {
		of := &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Ref: new(string), Default: &apiextensionsv1.JSON{Raw: []byte(text)}}}
		if _, _, err := Open(of); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNode(t *testing.T) {
	t.Parallel()
	same, rejected := 0, 0
	for i, file := range corpus.CRDFiles(t) {
		for seed := range 3 {
			crd := corpus.ReadCRD(t, file)
			if seed > 0 {
				brokencrd.Spoil(rand.New(rand.NewPCG(uint64(i), uint64(seed))), crd)
			}
			for v := range crd.Spec.Versions {
				source := crd.Spec.Versions[v].Schema
				if source == nil || source.OpenAPIV3Schema == nil {
					continue
				}
				var want *schema.Structural
				props := &apiextensions.JSONSchemaProps{}
				wantErr := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(source.OpenAPIV3Schema, props, nil)
				if wantErr == nil {
					want, wantErr = schema.NewStructural(props)
				}
				got, err := Node(source.OpenAPIV3Schema)
				switch {
				case (err == nil) != (wantErr == nil):
					t.Fatalf("%s, seed %d: %v, upstream %v", file, seed, err, wantErr)
				case err != nil:
					rejected++
				case !reflect.DeepEqual(got, want):
					t.Fatalf("%s, seed %d: not equal", file, seed)
				default:
					same++
				}
			}
		}
	}
	t.Logf("%d equal, %d refused", same, rejected)
	if same == 0 || rejected == 0 {
		t.Error("want some of both")
	}
}

// TestNodeShares checks that Node does not share defaults, which pruning would change in the CRD.
func TestNodeShares(t *testing.T) {
	t.Parallel()
	s := &apiextensionsv1.JSONSchemaProps{Type: "object", Default: &apiextensionsv1.JSON{Raw: []byte(`{"a":1}`)}}
	one, err := Node(s)
	if err != nil {
		t.Fatal(err)
	}
	delete(one.Default.Object.(map[string]any), "a")
	if other, _ := Node(s); len(other.Default.Object.(map[string]any)) != 1 {
		t.Error("two nodes share a default")
	}
}
