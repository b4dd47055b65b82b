package policyvet_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/x/analysis/policyvet"
)

func vetHostile(t *testing.T, docs []map[string]any, s *policyvet.Schemas) []*policyvet.Report {
	t.Helper()
	if s == nil {
		s = schemas(t)
	}
	reports, err := policyvet.Vet(context.Background(), docs, policyvet.Config{Schemas: s})
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

func renamed(text string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("---\n" + strings.NewReplacer("name: p}", fmt.Sprintf("name: p%d}", i), "name: b}", fmt.Sprintf("name: b%d}", i), "policyName: p", fmt.Sprintf("policyName: p%d", i)).Replace(text) + "\n")
	}
	return b.String()
}

func TestManyPolicies(t *testing.T) {
	t.Parallel()
	text := policyOf("CREATE,UPDATE apps,core,batch deployments,statefulsets,daemonsets,replicasets,pods,jobs,cronjobs", expressions("object.metadata.name != 'a'; object.metadata.namespace != 'b'"))
	n := 1000
	if testing.Short() {
		n = 100
	}
	reports := vetHostile(t, documents(t, renamed(text, n)), nil)
	if len(reports) != 2*n {
		t.Fatalf("got %d reports", len(reports))
	}
	for _, r := range reports {
		if !r.Accepted || len(r.Lints) > 0 || len(r.Warnings) > 0 || r.Kind == "ValidatingAdmissionPolicy" && len(r.Estimates) != 7 {
			t.Fatalf("got %+v", r)
		}
	}
}

func TestManyTypeErrors(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf("object.nope%d == 1", i))
	}
	text := policyOf("CREATE,UPDATE apps,core,batch deployments,statefulsets,daemonsets,replicasets,pods,jobs,cronjobs", expressions(strings.Join(all, ";")))
	limited := 0
	for _, r := range vetHostile(t, documents(t, renamed(text, 5)), nil) {
		if r.Limited != "" {
			limited++
		}
	}
	if limited == 0 {
		t.Error("no report is limited")
	}
}

func TestManyKinds(t *testing.T) {
	t.Parallel()
	var crds []*apiextensionsv1.CustomResourceDefinition
	for i := range 300 {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		crd.Spec.Group, crd.Spec.Names.Plural, crd.Spec.Names.Kind = fmt.Sprintf("g%d.example.com", i), "things", "Thing"
		crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}}}
		crds = append(crds, crd)
	}
	s, err := policyvet.NewSchemas("", crds)
	if err != nil {
		t.Fatal(err)
	}
	r := vetHostile(t, documents(t, policyOf("CREATE * things *", expressions("object.metadata.name != 'a'"))), s)[0]
	if len(r.Estimates) != 200 || r.Limited == "" {
		t.Errorf("%d kinds, %q", len(r.Estimates), r.Limited)
	}
	if r := vetHostile(t, documents(t, policyOf("* * * *", expressions("object.nope == 1 || object == null"))), s)[0]; len(r.Estimates) > 0 || len(r.Warnings) > 0 {
		t.Errorf("got %+v", r)
	}
}

func TestHugeExpressions(t *testing.T) {
	t.Parallel()
	deep := "object" + strings.Repeat(".a", 200)
	for _, x := range []string{
		strings.Repeat("object.spec.size == 1 || ", 3000) + "true",
		strings.Repeat("(", 100) + "object.spec.size == 1" + strings.Repeat(")", 100),
		strings.Repeat("[object.spec.tags].all(x, ", 12) + "true" + strings.Repeat(")", 12),
		deep + " == 1",
		"object" + strings.Repeat(".f()", 200),
		"object" + strings.Repeat("['a']", 200) + " == 1",
		"[" + strings.Repeat("object.spec.tags[0], ", 2000) + "object].size() == 1",
		strings.Repeat("!", 200) + "object.spec.size",
		strings.Repeat("object.spec.size == 1 ? object.spec.a : ", 100) + "true",
		"has(object" + strings.Repeat(".?a", 100) + ".b)",
	} {
		vetHostile(t, documents(t, policyOf("* example.com widgets", "failurePolicy: Ignore\n"+expressions(x))), nil)
	}
	// Each variable uses the previous one twice, and the last two need each other.
	text := "failurePolicy: Ignore\nvariables:\n- {name: v0, expression: object.spec.tags}\n"
	for i := range 200 {
		text += fmt.Sprintf("- {name: v%d, expression: 'variables.v%d + variables.v%d'}\n", i+1, i, i)
	}
	text += "- {name: x, expression: dyn(variables).y}\n- {name: y, expression: variables.x}\n"
	vetHostile(t, documents(t, policyOf("* example.com widgets", text+expressions("variables.v200.size() == 1 && variables.y == 1"))), nil)
}

func TestDeepSchema(t *testing.T) {
	t.Parallel()
	props := apiextensionsv1.JSONSchemaProps{Type: "string"}
	for range 500 {
		props = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": props}}
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Group, crd.Spec.Names.Plural, crd.Spec.Names.Kind = "example.com", "deeps", "Deep"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &props}}}
	s, err := policyvet.NewSchemas("", []*apiextensionsv1.CustomResourceDefinition{crd})
	if err != nil {
		t.Fatal(err)
	}
	r := vetHostile(t, documents(t, policyOf("CREATE example.com deeps", "failurePolicy: Ignore\n"+expressions("object"+strings.Repeat(".a", 100)+".b == 'x'; object.a.a.a == null"))), s)[0]
	if len(r.Warnings) == 0 || len(r.Estimates) != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestOddDocuments(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"1", "[]", "{validations: 1}", "{matchConstraints: []}", "{variables: [1]}", "{matchConstraints: {resourceRules: [null]}}", "{matchConstraints: {namespaceSelector: {matchLabels: 1}}}", "{policyName: {}}", "null"} {
		for _, kind := range []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"} {
			text := "{apiVersion: admissionregistration.k8s.io/v1, kind: " + kind + ", metadata: {name: p}, spec: " + spec + ", webhooks: [{matchConditions: 1}, 2, {matchConditions: [null], rules: 1}]}"
			for _, r := range vetHostile(t, documents(t, text), nil) {
				if r.Accepted {
					t.Errorf("%s is accepted", text)
				}
			}
		}
	}
}

func FuzzLints(f *testing.F) {
	for _, x := range []string{"object.spec.size > 1", "variables.a.all(x, x.b == 'c')", "object.?a.b.orValue([1])", "cel.bind(a, object, a.b)", "'a' in object.b && request.operation in ['DELETE']", "[object, {'a': oldObject}].map(x, x.a)", "variables == variables", "{'a': 1}.transformMap(k, v, v)", "optional.of(object).a", "object[0][1]['a'].?b[?c]"} {
		f.Add(x, x)
	}
	s := schemas(f)
	f.Fuzz(func(t *testing.T, a, b string) {
		doc := documents(t, policyOf("* example.com widgets", "failurePolicy: Ignore\n"+expressions("true")))[0]
		spec := doc["spec"].(map[string]any)
		spec["variables"] = []any{map[string]any{"name": "a", "expression": a}}
		spec["validations"] = []any{map[string]any{"expression": b, "message": a}}
		if _, err := policyvet.Vet(context.Background(), []map[string]any{doc}, policyvet.Config{Schemas: s}); err != nil {
			t.Fatal(err)
		}
	})
}
