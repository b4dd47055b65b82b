package engine

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
)

// The second rule panics in a way that upstream's evaluator never does.
func brokenRules(t *testing.T) *Rules {
	t.Helper()
	s := &schema.Structural{Generic: schema.Generic{Type: "object"}, ValidationExtensions: schema.ValidationExtensions{
		XValidations: apiextensionsv1.ValidationRules{{Rule: "false"}, {Rule: "1 == 1"}},
	}}
	rules, err := CompileRules(s, Config{})
	if err != nil {
		t.Fatal(err)
	}
	rules.root.rules[1].expr = &expr.Expr{} // it has no program
	rules.root.summarize()
	return rules
}

func TestBugIsNoVerdict(t *testing.T) {
	t.Parallel()
	const want = "internal error in celadon (please report it): schema root: x-kubernetes-validations[1].rule: "
	rules := brokenRules(t)
	obj := map[string]any{"apiVersion": "example.org/v1", "kind": "Gizmo", "metadata": map[string]any{"name": "a"}}
	for range 2 { // a run after a panic is not reused
		errs, remaining := rules.Validate(t.Context(), field.NewPath("root"), obj, nil, celconfig.RuntimeCELCostBudget)
		if len(errs) != 1 || errs[0].Type != field.ErrorTypeInternal || !strings.HasPrefix(errs[0].Detail, want) || remaining >= 0 {
			t.Errorf("Rules: got %d, %v", remaining, errs)
		}
	}
	v := &crdVersion{name: "v1", apiVersion: "example.org/v1", served: true, rules: func() *Rules { return rules }}
	var bug *InternalError
	if results, _, err := (&Prepared{version: v, Self: obj, budget: celconfig.RuntimeCELCostBudget}).RunRules(t.Context()); results != nil || !errors.As(err, &bug) || bug.Rule == nil || bug.Rule.Index != 1 || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("RunRules: got %v, %v", results, err)
	}
}

func TestBugOfSchema(t *testing.T) {
	t.Parallel()
	s, err := CompileSchema(&apiextensionsv1.JSONSchemaProps{Type: "object"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	s.rules = brokenRules(t)
	var bug *InternalError
	if res, err := s.Validate(t.Context(), nil, map[string]any{}, nil); res != nil || !errors.As(err, &bug) || bug.Rule == nil {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestBugOfEvaluator(t *testing.T) {
	t.Parallel()
	ref := RuleRef{Path: "spec", Index: 2, Rule: "self.x"}
	r := &run{running: &compiledRule{ref: ref}}
	if !r.giveUp(r.running, rulePart, &eval.InternalError{Panic: "no such thing"}) || r.bug == nil || r.budget >= 0 {
		t.Fatalf("got %+v", r)
	}
	if want := "internal error in celadon (please report it): spec: x-kubernetes-validations[2].rule: no such thing: for rule: self.x"; r.bug.Error() != want {
		t.Errorf("got %s", r.bug)
	}
}
