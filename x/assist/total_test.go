package assist_test

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/assist"
)

// expensive is a rule that costs 8 % of the limit for all rules of a CRD.
const expensive = "self.last.all(x, x.contains('aaaaaaaaaaaaaaaaaaaa') && x.contains('bbbbbbbbbbbbbbbbbbbb'))"

func TestTotal(t *testing.T) {
	t.Parallel()
	broken := strings.Replace(expensive, "&&", "and", 1)
	for _, c := range []struct {
		fields    int // each with a rule of about 8 % of the limit
		corrected bool
	}{{1, true}, {11, true}, {12, false}, {14, true}} { // the 14 are too expensive without it
		crd := expensiveCRD(c.fields, broken)
		e, err := engine.Compile(crd, engine.Config{})
		if e == nil {
			t.Fatal(err)
		}
		p, err := assist.NewContext(e, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, "v1", "spec")
		if err != nil {
			t.Fatal(err)
		}
		p.Part = assist.Rule
		problem := p.Problems(broken)[0]
		if fixed := problem.Fixed(broken); (fixed != "") != c.corrected {
			t.Errorf("%d rules: got %q, corrected %t", c.fields, fixed, c.corrected)
		}
	}
}

func expensiveCRD(lists int, broken string) *apiextensionsv1.CustomResourceDefinition {
	items, size := int64(5000), int64(1000)
	list := apiextensionsv1.JSONSchemaProps{Type: "array", MaxItems: &items, Items: &apiextensionsv1.JSONSchemaPropsOrArray{
		Schema: &apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: &size},
	}}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"last": list}}
	for i := range lists {
		name := fmt.Sprintf("f%d", i)
		spec.Properties[name] = list
		spec.XValidations = append(spec.XValidations, apiextensionsv1.ValidationRule{Rule: strings.ReplaceAll(expensive, "last", name)})
	}
	spec.XValidations = append(spec.XValidations, apiextensionsv1.ValidationRule{Rule: broken})
	root := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.com"}}
	crd.Spec.Group, crd.Spec.Names.Plural, crd.Spec.Names.Kind, crd.Spec.Scope = "example.com", "things", "Thing", "Namespaced"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root},
	}}
	return crd
}
