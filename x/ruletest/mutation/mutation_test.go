package mutation

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

type m = map[string]any

const widgetCRD = `
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [min]
            properties:
              min: {type: integer}
              max: {type: integer}
              mode: {type: string, enum: [Fast, Slow]}
              names: {type: array, maxItems: 4, items: {type: string, maxLength: 8}}
`

func widgets(t testing.TB, rules ...apiextensionsv1.ValidationRule) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(widgetCRD), crd); err != nil {
		t.Fatal(err)
	}
	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	spec := root.Properties["spec"]
	spec.XValidations = rules
	root.Properties["spec"] = spec
	return crd
}

func widget(spec m) m {
	return m{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": m{"name": "w"}, "spec": spec}
}

// A case passes if the result is the same as with the given CRD.
func suiteOf(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition, cases map[string]m) Suite {
	t.Helper()
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := Suite{CRD: crd, Engine: e}
	for name, spec := range cases {
		req := engine.Request{Object: widget(spec)}
		s.Cases = append(s.Cases, Case{name, []Write{{req, asBefore(t, e, req)}}})
	}
	slices.SortFunc(s.Cases, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
	return s
}

func changesOf(t testing.TB, rule string) map[string][]string {
	t.Helper()
	r, err := Run(context.Background(), []Suite{suiteOf(t, widgets(t, apiextensionsv1.ValidationRule{Rule: rule}), nil)}, nil, Config{RulesOnly: true, Steps: -1})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, one := range r.Mutants {
		all[one.Operator] = append(all[one.Operator], one.Changed)
		if text := []rune(one.Rule); one.End > 0 && !(strings.HasPrefix(one.Changed, string(text[:one.Start])) && strings.HasSuffix(one.Changed, string(text[one.End:]))) {
			t.Errorf("%s: %q differs outside of %d to %d", rule, one.Changed, one.Start, one.End)
		}
	}
	return all
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]map[string][]string{
		"self.min <= self.max": {opComparison: {"self.min < self.max", "self.min > self.max"}},
		"self.min + 1 == 2": {
			opComparison: {"self.min + 1 != 2"}, opArithmetic: {"self.min - 1 == 2"},
			opConstant: {"self.min + 2 == 2", "self.min + 0 == 2", "self.min + 1 == 3", "self.min + 1 == 1"},
		},
		"self.min > -1": {opComparison: {"self.min >= -1", "self.min < -1"}, opConstant: {"self.min > 0", "self.min > -2"}},
		"!has(self.max) || (self.min == self.max)": {
			opJunction:   {"!has(self.max) && (self.min == self.max)"},
			opDropped:    {"(self.min == self.max)", "!has(self.max)"},
			opNegation:   {"(has(self.max)) || (self.min == self.max)"},
			opPresence:   {"!true || (self.min == self.max)"},
			opComparison: {"!has(self.max) || (self.min != self.max)"},
		},
		"self.names.all(n, n.startsWith('a'))": {
			opNegation:   {"!(self.names.all(n, n.startsWith('a')))", "self.names.all(n, !(n.startsWith('a')))"},
			opQuantifier: {"self.names.exists(n, n.startsWith('a'))"},
			opFunction:   {"self.names.all(n, n.endsWith('a'))"},
			opConstant:   {`self.names.all(n, n.startsWith(""))`},
		},
		"self.names.exists_one(n, n == '')": {
			opNegation: {"!(self.names.exists_one(n, n == ''))"}, opQuantifier: {"self.names.exists(n, n == '')"},
			opComparison: {"self.names.exists_one(n, n != '')"}, opConstant: {`self.names.exists_one(n, n == "x")`},
		},
		"self.mode in ['Fast', 'Slow', 'é']": {
			opNegation: {"!(self.mode in ['Fast', 'Slow', 'é'])"},
			opConstant: {"self.mode in ['Slow', 'é']", "self.mode in ['Fast', 'é']", "self.mode in ['Fast', 'Slow']"},
		},
		"self.min > 1 ? has(self.max) : true": {
			opBranch: {"(has(self.max))", "(true)"}, opComparison: {"self.min >= 1 ? has(self.max) : true", "self.min < 1 ? has(self.max) : true"},
			opConstant: {"self.min > 2 ? has(self.max) : true", "self.min > 0 ? has(self.max) : true", "self.min > 1 ? has(self.max) : false"},
			opPresence: {"self.min > 1 ? true : true"},
		},
		"// é\n self.min\n  == 3 // why": {
			opComparison: {"// é\n self.min\n  != 3 // why"}, opConstant: {"// é\n self.min\n  == 4 // why", "// é\n self.min\n  == 2 // why"},
		},
	} {
		want[opRemoved] = []string{""}
		if got := changesOf(t, rule); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", rule, got, want)
		}
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	crd := widgets(t,
		apiextensionsv1.ValidationRule{Rule: "!has(self.max) || self.min <= self.max", FieldPath: ".max"},
		apiextensionsv1.ValidationRule{Rule: "!has(self.names) || size(self.names) >= 0"},
	)
	s := suiteOf(t, crd, map[string]m{"equal": {"min": int64(2), "max": int64(2)}, "more": {"min": int64(1), "max": int64(2)}, "less": {"min": int64(3), "max": int64(2)}, "five": {"min": int64(3), "names": []any{"a", "b", "c", "d", "e"}}})
	s.Cases = append(s.Cases, Case{"wrong", []Write{{engine.Request{Object: widget(m{"min": int64(1)})}, func(*engine.Result, error) bool { return false }}}})
	r, err := Run(context.Background(), []Suite{s}, nil, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Failing, []string{"wrong"}) {
		t.Errorf("failing: %q", r.Failing)
	}
	got := map[string]*Mutant{}
	for _, one := range r.Mutants {
		got[one.Operator+": "+one.Rule+" => "+one.Changed] = one
	}
	const rule, other = "!has(self.max) || self.min <= self.max", "!has(self.names) || size(self.names) >= 0"
	for name, want := range map[string]struct {
		status   Status
		killedBy string
	}{
		"comparison: " + rule + " => !has(self.max) || self.min < self.max":     {Killed, "equal"},
		"comparison: " + rule + " => !has(self.max) || self.min > self.max":     {Killed, "less"},
		"fieldPath: fieldPath: .max => ":                                        {Killed, "less"},
		"removed rule: " + rule + " => ":                                        {Killed, "less"},
		"dropped operand: " + rule + " => self.min <= self.max":                 {Survived, ""},
		"removed rule: " + other + " => ":                                       {Equivalent, ""},
		"comparison: " + other + " => !has(self.names) || size(self.names) > 0": {Survived, ""},
		"bound removed: maxItems: 4 => ":                                        {Killed, "five"},
		"bound removed: maxLength: 8 => ":                                       {Survived, ""},
		"required: required: min => ":                                           {Survived, ""},
		"enum: enum: [\"Fast\",\"Slow\"] => ":                                   {NotCovered, ""},
	} {
		one := got[name]
		if one == nil {
			t.Errorf("%s: no such mutant", name)
			continue
		}
		if one.Status != want.status || one.KilledBy != want.killedBy {
			t.Errorf("%s: %s by %q (%s), want %s by %q", name, one.Status, one.KilledBy, one.Reason, want.status, want.killedBy)
		}
	}
	if r.Total != len(r.Mutants) || r.Killed+r.Survived+r.NotCovered+r.Equivalent+r.TimedOut+r.NotViable != r.Total {
		t.Errorf("the report does not add up: %+v", r)
	}
	holdTests(t, r, crd, s.Engine)
}

// The test of a survivor must have the stated verdict on the original, and the opposite on the mutated CRD.
func holdTests(t *testing.T, r *Report, crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine) {
	t.Helper()
	found := 0
	for _, one := range r.Survivors {
		if one.Test == nil {
			continue
		}
		found++
		changed, err := engine.Compile(one.Apply(crd), engine.Config{})
		if err != nil {
			t.Fatal(err)
		}
		req := engine.Request{Object: one.Test.Object, OldObject: one.Test.Old}
		if one.Test.Operation == "status" {
			req.Subresource = "status"
		}
		for i, engine := range []*engine.Engine{e, changed} {
			res, err := engine.Validate(context.Background(), req)
			if err != nil || res.Allowed != (one.Test.Allowed == (i == 0)) {
				t.Errorf("%s: engine %d does not answer as said: %v, %+v", one, i, err, res)
			}
		}
	}
	if found == 0 {
		t.Error("no test was found for any survivor")
	}
}

func TestSameReport(t *testing.T) {
	t.Parallel()
	crd := widgets(t, apiextensionsv1.ValidationRule{Rule: "!has(self.max) || self.min <= self.max"}, apiextensionsv1.ValidationRule{Rule: "self.min > 0 && self.min < 10"})
	beta := *crd.Spec.Versions[0].DeepCopy()
	beta.Name, beta.Storage = "v1beta1", false
	crd.Spec.Versions = append(crd.Spec.Versions, beta)
	one := suiteOf(t, crd, map[string]m{"a": {"min": int64(1), "max": int64(3)}})
	other := suiteOf(t, crd, map[string]m{"b": {"min": int64(20)}})
	for i := range other.Cases {
		w := &other.Cases[i].Writes[0]
		w.Request.Object["apiVersion"] = "example.com/v1beta1"
		w.Passes = asBefore(t, other.Engine, w.Request)
	}
	var want []byte
	for _, workers := range []int{1, 2, 7} {
		r, err := Run(context.Background(), []Suite{one, other}, nil, Config{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal([]any{r, r.Mutants})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if string(got) != string(want) {
			t.Fatalf("%d workers: got %s\nwant %s", workers, got, want)
		}
		for _, one := range r.Mutants {
			if one.Version != "v1" {
				t.Errorf("%s: an equal version is counted by itself", one)
			}
			if one.Changed == "self.min > 0" && one.KilledBy != "b" {
				t.Errorf("%s: %s by %q, want b, of the other version", one, one.Status, one.KilledBy)
			}
		}
	}
}

// A rule counts as cut if its edits are omitted before equal edits are dropped.
func TestCut(t *testing.T) {
	t.Parallel()
	rule := "self.min in [" + strings.Repeat("1, ", 4*maxEdits) + "1] && self.min > 1"
	s := suiteOf(t, widgets(t, apiextensionsv1.ValidationRule{Rule: rule}), nil)
	r, err := Run(context.Background(), []Suite{s}, nil, Config{RulesOnly: true, Steps: -1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cut != 1 || r.Total > maxEdits {
		t.Errorf("%d mutants, %d rules cut", r.Total, r.Cut)
	}
}

func TestHostileRules(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	long := strings.TrimSuffix(strings.Repeat("self.min != 1000 && ", 300), " && ")
	wide := "self.names.all(n, n.matches('x') || ['a','b','c'].all(a, n != a)) || self.min == 1"
	s := suiteOf(t, widgets(t, apiextensionsv1.ValidationRule{Rule: long}, apiextensionsv1.ValidationRule{Rule: wide}), map[string]m{"a": {"min": int64(1), "names": []any{"a"}}})
	r, err := Run(context.Background(), []Suite{s}, nil, Config{RulesOnly: true, Steps: 5})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cut != 1 || r.Total > maxEdits+100 {
		t.Errorf("%d mutants, %d rules cut", r.Total, r.Cut)
	}
}

func TestTimedOut(t *testing.T) {
	t.Parallel()
	rule := "self.min != 1 || self.names.exists(n, n.replace('', n) != '')"
	crd := widgets(t, apiextensionsv1.ValidationRule{Rule: rule})
	names := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["names"]
	names.Items.Schema.MaxLength = nil
	s := suiteOf(t, crd, map[string]m{"a": {"min": int64(2), "names": []any{strings.Repeat("x", 100_000)}}})
	r, err := Run(context.Background(), []Suite{s}, nil, Config{RulesOnly: true, Steps: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range r.Mutants {
		if strings.HasPrefix(one.Changed, "self.names") && (one.Status != TimedOut || one.KilledBy != "" || one.Reason == "") {
			t.Errorf("%s: %s by %q (%s)", one, one.Status, one.KilledBy, one.Reason)
		}
	}
	if r.TimedOut == 0 {
		t.Errorf("none is timed out: %+v", r)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	s := suiteOf(t, widgets(t, apiextensionsv1.ValidationRule{Rule: "self.min > 0"}), map[string]m{"a": {"min": int64(1)}})
	cancel()
	if r, err := Run(ctx, []Suite{s}, nil, Config{}); r != nil || err == nil {
		t.Errorf("got %v, %v", r, err)
	}
}
