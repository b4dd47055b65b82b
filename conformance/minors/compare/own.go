package compare

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// ownRules holds rules on ownSchema that are not generated: all kinds of literals, syntax errors, type
// errors, and functions. A rule that contains a line break continues in the next line.
//
//go:embed testdata/rules.txt
var ownRules string

//go:embed testdata/schema.yaml
var ownSchema []byte

//go:embed testdata/objects.yaml
var ownObjects []byte

const rulesPerCRD = 12

func ownCases() (cases []*Case, err error) {
	schema := apiextensionsv1.JSONSchemaProps{}
	if err := yaml.Unmarshal(ownSchema, &schema); err != nil {
		return nil, err
	}
	rules := splitRules(ownRules)
	for n := 0; len(rules) > 0; n++ {
		size := min(rulesPerCRD, len(rules))
		c, err := ownCase(n, &schema, rules[:size])
		if err != nil {
			return nil, err
		}
		cases, rules = append(cases, c), rules[size:]
	}
	return cases, nil
}

// A line that ends in b""" or is b' ends the string that begins on the line before, so it belongs to the
// same rule.
func splitRules(text string) (rules []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if last := len(rules) - 1; last >= 0 && strings.HasSuffix(line, "b\"\"\"") || last >= 0 && line == "b'" {
			rules[last] += "\n" + line
			continue
		}
		rules = append(rules, line)
	}
	return rules
}

func ownCase(n int, schema *apiextensionsv1.JSONSchemaProps, rules []string) (*Case, error) {
	crd := ownCRD(n, schema.DeepCopy(), rules)
	c := &Case{Name: fmt.Sprintf("own rules %d", n)}
	var err error
	if c.CRD, err = json.Marshal(crd); err != nil {
		return nil, err
	}
	var objects []struct{ Object, Old map[string]any }
	if err := yaml.Unmarshal(ownObjects, &objects); err != nil {
		return nil, err
	}
	for _, o := range objects {
		var old map[string]any
		if o.Old != nil {
			old = ownObject(o.Old)
		}
		w, err := NewWrite(crd, "v1", "", ownObject(o.Object), old)
		if err != nil {
			return nil, err
		}
		c.Writes = append(c.Writes, w)
	}
	return c, nil
}

func ownCRD(n int, spec *apiextensionsv1.JSONSchemaProps, rules []string) *apiextensionsv1.CustomResourceDefinition {
	for _, r := range rules {
		spec.XValidations = append(spec.XValidations, apiextensionsv1.ValidationRule{Rule: r})
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.APIVersion, crd.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
	crd.Spec.Group = fmt.Sprintf("own%d.example.com", n)
	crd.Name = "things." + crd.Spec.Group
	crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"}
	root := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": *spec}}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{
		{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root}},
	}
	return crd
}

func ownObject(spec map[string]any) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": "thing"}, "spec": spec}
}
