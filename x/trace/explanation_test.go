package trace_test

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/trace"
)

func explained(t *testing.T, rules, spec string, allowance uint64) trace.Explanations {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, whyCRD, "", "", "x-kubernetes-validations: ["+rules+"]"), crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Validate(t.Context(), engine.Request{Object: whyObject(t, spec)})
	if err != nil || res.Allowed {
		t.Fatalf("%+v %v", res, err)
	}
	all, err := trace.NewExplainer(e).Explain(t.Context(), res.Prepared, res.Causes, allowance)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestExplainIsBounded(t *testing.T) {
	t.Parallel()
	full := new(trace.Run).Allowance()
	for _, test := range []struct {
		name, rules, spec, notShown string
		allowance                   uint64
	}{
		{"a simple rule", "{rule: self.count > 3}", "{count: 1}", "", full},
		{"a call that the cost limit stops", "{rule: 'lists.range(340000).distinct().size() > 0'}", "{}", "", full},
		{"many elements", "{rule: '!self.list.all(x, x == 1)'}", "{list: [" + strings.Repeat("1, ", 5000) + "1]}", "a macro iterates over more than 5000 elements", full},
		{"little is left", "{rule: '!self.list.all(x, x == 1)'}", "{list: [" + strings.Repeat("1, ", 4000) + "1]}", "the explanations of the object exceed the work limit", 1 << 15},
		{"less is left", "{rule: self.count > 3 && self.m > 3}", "{count: 1}", "the rest exceeds the work limit", 300},
	} {
		all := explained(t, test.rules, test.spec, test.allowance)
		if len(all.Causes) != 1 || !strings.Contains(all.Causes[0].NotShown, test.notShown) || (test.notShown == "") != (all.Causes[0].NotShown == "") {
			t.Errorf("%s: %.300v", test.name, all)
		}
		if over := all.Work > test.allowance; over != strings.Contains(test.name, "left") {
			t.Errorf("%s: %d units of %d", test.name, all.Work, test.allowance)
		}
		if again := explained(t, test.rules, test.spec, test.allowance); again.Work != all.Work {
			t.Errorf("%s: %d units, and then %d", test.name, all.Work, again.Work)
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	run := &trace.Run{}
	simple := explained(t, "{rule: self.count > 3}", "{count: 1}", run.Allowance()).Work
	total := uint64(0)
	for i := range 2000 {
		allowance := run.Allowance()
		total += allowance
		if shown := run.Settle(allowance + 1); shown && i > 1000 {
			t.Fatalf("object %d is shown", i)
		}
		if !run.Settle(simple) {
			t.Fatalf("a simple object is not shown after %d hostile ones", i+1)
		}
	}
	if total > 3<<30/2 {
		t.Errorf("%d units for all", total)
	}
}

// An object that was explained with a larger allowance than it turns out to have is shown only if it stayed within
// the smaller allowance.
func TestRunIsDeterministic(t *testing.T) {
	t.Parallel()
	run := &trace.Run{}
	early := run.Allowance()
	for range 40 {
		run.Settle(run.Allowance() + 1)
	}
	late := run.Allowance()
	if late >= early {
		t.Fatalf("%d are allowed at the end, %d at the start", late, early)
	}
	if run.Settle(early + 1) {
		t.Error("an object that was cut is shown, though it would have been cut earlier")
	}
	if run.Settle(late + 1) {
		t.Error("an object is shown that takes more than is allowed in the end")
	}
}
