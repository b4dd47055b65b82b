package analysis_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/budget"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// definition returns a CRD with a version v1 that has rules at spec and at spec.old, and a
// version v0 that is not served.
func definition(t testing.TB, rules ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var list strings.Builder
	for _, rule := range rules {
		fmt.Fprintf(&list, "\n            - {rule: %q}", rule)
	}
	schema := `
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:` + list.String() + `
            properties:
              num: {type: integer, maximum: 9}
              names: {type: array, items: {type: string}}
              old:
                type: string
                maxLength: 9
                x-kubernetes-validations:
                - {rule: "false"}`
	text := `
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing, singular: thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true` + schema + `
  - name: v0` + schema
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func analyzer(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition, version string) *analysis.Analyzer {
	t.Helper()
	e, err := engine.Compile(crd, engine.Config{})
	if e == nil {
		t.Fatal(err)
	}
	a, err := analysis.New(crd, e, version, analysis.Config{Steps: 200, CostProof: budget.Proofs(crd, "", cost.Limits{})})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAsk(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	const unbounded = "self.names.all(x, self.names.all(y, x + y != 'abc'))"
	for _, tt := range []struct {
		rule, version string
		want          search.Want
		words         string
	}{
		{"!has(self.num) || self.num > 3", "v1", search.Rejected, "rejected: this object (create)"},
		{"!has(self.num) || self.num > 3", "v1", search.Accepted, "accepted: this object (create)"},
		{"!has(self.num) || self.num > 3", "v1", search.Errs, "no object on which the rule fails: proved (the rule itself)"},
		{"!has(self.num) || self.num > 3", "v1", search.OverBudget, "no object on which it exceeds its cost limit: proved (estimates: 5 of 1,000,000 units per run, 5 of 10,000,000 in total)"},
		{"!has(self.num) || self.num < 10", "v1", search.Rejected, "no such object: proved (schema)"},
		{"self.num > 3", "v1", search.Errs, "fails to evaluate: this object (create)"},
		{"false", "v1", search.Accepted, "never set: no accepted object has spec: proved (rule 0 of spec)"},
		{"self.nonsense", "v1", search.Rejected, "not analyzed: undefined field 'nonsense'"},
		{"!has(self.names) || " + unbounded, "v1", search.OverBudget, "exceeds its cost limit: this object (create)"},
		{"!has(self.num) || self.num < 10", "v0", search.Rejected, "not searched: version v0 is not served"},
		{"!has(self.num) || self.num < 10", "v0", search.OverBudget, "not searched: version v0 is not served"},
	} {
		a := analyzer(t, definition(t, tt.rule), tt.version)
		answer, err := a.Ask(t.Context(), a.Rules()[0], tt.want)
		if err != nil {
			t.Fatalf("%s: %v", tt.rule, err)
		}
		if got := answer.Words(tt.want); got != tt.words {
			t.Errorf("%s, %s, %s: got %q, want %q", tt.version, tt.want, tt.rule, got, tt.words)
		}
	}
}

func TestAskCharges(t *testing.T) {
	t.Parallel()
	a := analyzer(t, definition(t, "!has(self.num) || self.num > 3"), "v1")
	m := work.NewMeter(1_000_000)
	a.Charge(m)
	rule := a.Rules()[0]
	if answer, err := a.Ask(t.Context(), rule, search.Rejected); err != nil || answer.Status != search.Found || m.Spent() == 0 {
		t.Errorf("got %v, %v, %d units", answer, err, m.Spent())
	}
	m.Spend(1_000_000)
	answer, err := a.Ask(t.Context(), rule, search.Rejected)
	if err != nil || answer.Status != search.Unknown || !answer.Limited || answer.Reason != m.Reason() {
		t.Errorf("without a budget: got %+v, %v", answer, err)
	}
}

func TestSampleOfNothing(t *testing.T) {
	t.Parallel()
	crd := definition(t, "true")
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations = apiextensionsv1.ValidationRules{{Rule: "false"}}
	answer, err := analyzer(t, crd, "").Sample(t.Context(), false)
	if err != nil || answer.Words(search.Accepted) != "no object is accepted: proved (rule 0 of the root)" {
		t.Errorf("got %+v, %v", answer, err)
	}
}

func TestInLanes(t *testing.T) {
	t.Parallel()
	a := analyzer(t, definition(t, "true", "!has(self.num)"), "v1")
	meters := work.Split(3, 1)
	lanes := map[*work.Meter]int{}
	var mu sync.Mutex
	counts := [3]int{}
	err := a.InLanes(a.Rules(), meters, func(lane *analysis.Analyzer, i int) error {
		mu.Lock()
		defer mu.Unlock()
		counts[i]++
		lanes[lane.Meter()]++
		return nil
	})
	if err != nil || counts != [3]int{1, 1, 1} || lanes[meters[0]] != 2 || lanes[meters[1]] != 1 {
		t.Errorf("got %v, asked %v", err, counts)
	}
	err = a.InLanes(a.Rules(), meters, func(*analysis.Analyzer, int) error { panic("no") })
	var bug *engine.InternalError
	if !errors.As(err, &bug) || bug.Reason != "no" {
		t.Errorf("a panic: got %v", err)
	}
}

func TestCompile(t *testing.T) {
	t.Parallel()
	a := analysis.Uncompiled(definition(t, "!has(self.num) || self.num < 10", "self.nonsense"), "", "v1", analysis.Config{})
	if proof := a.Prove(engine.RuleRef{Path: "spec"}, search.Rejected); proof == nil || proof.String() != "schema" {
		t.Errorf("got %v", proof)
	}
	var broken *engine.CompileErrors
	if err := a.Compile(); !errors.As(err, &broken) || len(broken.Errors) == 0 {
		t.Fatalf("got %v", err)
	}
	answer, err := a.Search(t.Context(), a.Rules()[1], search.Rejected)
	if err != nil || answer.Status != search.NotAnalyzed {
		t.Errorf("got %+v, %v", answer, err)
	}
}

func TestRejection(t *testing.T) {
	t.Parallel()
	crd, other := definition(t, "!has(self.num) || self.num > 3"), definition(t, "!has(self.num) || self.num > 4")
	e, err := engine.Compile(other, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a := analyzer(t, crd, "v1")
	original, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		rejecting, admitting *search.Search
		want                 search.StatusWord
	}{{a.Form(original), a.Form(e), search.Unknown}, {a.Form(e), a.Form(original), search.Found}} {
		if answer, err := tt.rejecting.Rejection(t.Context(), tt.admitting); err != nil || answer.Status != tt.want {
			t.Errorf("%d: got %+v, %v, want %s", i, answer, err, tt.want)
		}
	}
	equal := apiextensionsv1.ValidationRule{Rule: "!has(self.num) || self.num >= 4"}
	if a.Equal(engine.RuleRef{Path: "spec"}, equal) == nil {
		t.Error("no proof that equal rules are equal")
	}
}

func TestUncompiledVersion(t *testing.T) {
	t.Parallel()
	if err := analysis.Uncompiled(definition(t, "self.num < 10"), "", "v7", analysis.Config{}).Compile(); err == nil {
		t.Error("want an error")
	}
}
