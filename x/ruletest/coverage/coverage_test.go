package coverage

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

type m = map[string]any

func TestConditions(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"self.a":                                        "",
		"self.a == self.b":                              "",
		"self.a && !self.b":                             "self.a|self.b",
		"(self.a || self.b) && (self.c)":                "self.a|self.b|self.c",
		"has(self.a) ? self.a : !self.b":                "has(self.a)|self.a|self.b",
		"(self.a ? 1 : 2) > 1":                          "self.a",
		"self.list.all(x, x.a)":                         "x.a",
		"self.list.all(x, x.a && x.b) || self.a":        "self.list.all(x, x.a && x.b)|x.a|x.b|self.a",
		"self.list.filter(x, has(x.a)).size() > 0":      "has(x.a)",
		"self.list.map(x, has(x.b), x.b).size() > 0":    "has(x.b)",
		"self.list.map(x, x.a || x.b).exists(y, y)":     "x.a|x.b|y",
		"self.list.exists_one(x, x.a)":                  "x.a",
		"self.?a.orValue(false) || self.b":              "self.?a.orValue(false)|self.b",
		"self.?a.optMap(v, v && self.b).orValue(false)": "v|self.b",
		"!(self.a in [self.b || self.c])":               "self.a in [self.b || self.c]|self.b|self.c",
		"self.list.all(x, i, x > 0 || i.a)":             "x > 0|i.a",
	} {
		report := measure(t, crdOf(t, rule), widget(m{"a": true, "b": false, "list": []any{m{"a": true, "b": true}}}))
		if report.Rules != 1 || report.Items[0].Unmeasured != "" {
			t.Errorf("%s: %+v", rule, report)
			continue
		}
		var texts []string
		for _, c := range report.Items[0].Conditions {
			texts = append(texts, c.Text)
			if text := string([]rune(rule)[c.Start:c.End]); text != c.Text {
				t.Errorf("%s: %q stands at %d to %d: %q", rule, c.Text, c.Start, c.End, text)
			}
		}
		if got := strings.Join(texts, "|"); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", rule, got, want)
		}
	}
}

func TestGaps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule    string
		objects []m
		want    []string
	}{
		{"!has(self.a) || self.b", nil, []string{"never ran"}},
		{"!has(self.a) || self.b", []m{{"a": true, "b": true}}, []string{"never rejected", "`has(self.a)` never false", "`self.b` never false"}},
		{"!has(self.a) || self.b", []m{{"a": true, "b": false}}, []string{"never passed", "`has(self.a)` never false", "`self.b` never true"}},
		{"!has(self.a) || self.b", []m{{}}, []string{"never rejected", "`has(self.a)` never true", "`self.b` never evaluated"}},
		{"!has(self.a) || self.b", []m{{}, {"a": true, "b": true}, {"a": true, "b": false}}, nil},
		{"self.a || self.b", []m{{"b": true}, {"a": true}}, []string{"never rejected", "`self.a` never false", "`self.b` never false"}},
		{"self.a || self.b", []m{{"b": false}, {"a": true, "b": false}}, []string{"never rejected", "`self.a` never false", "`self.b` never true"}},
		{"self.a || self.b", []m{{"a": true}, {"a": false, "b": true}}, []string{"never rejected", "`self.b` never false"}},
		{"self.a && self.b || self.c", []m{{"a": false, "c": true}, {"a": true, "b": true}, {"c": false, "a": false}},
			[]string{"`self.b` never false"}},
	} {
		var objects []map[string]any
		for _, spec := range tt.objects {
			objects = append(objects, widget(spec))
		}
		report := measure(t, crdOf(t, tt.rule), objects...)
		var got []string
		for _, gap := range report.Items[0].Gaps() {
			got = append(got, gap.Text)
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s with %v:\ngot  %q\nwant %q", tt.rule, tt.objects, got, tt.want)
		}
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	crd := crdOf(t, "self.a", "self.b", "self.a == oldSelf.a")
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rec := New()
	w, err := rec.Watch(crd, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, req := range []engine.Request{
		{Object: widget(m{"a": false, "b": true})},
		{Object: widget(m{"b": false})},
		{Object: widget(m{"a": false, "b": true}), OldObject: widget(m{"a": false, "b": true})},
	} {
		req.Observe = w.Observe
		if _, err := e.Validate(context.Background(), req); err != nil {
			t.Fatal(err)
		}
	}
	for _, ref := range e.Rules("v1") {
		if ref.Rule == "self.b" {
			w.Observe(engine.RuleRun{Rule: ref, Outcome: engine.Undecided})
		}
	}
	for i, want := range []Item{{Ran: 3, Rejected: 1, Errors: 1, Ratcheted: 1}, {Ran: 4, Passed: 2, Rejected: 1, Errors: 1}, {Ran: 1, Passed: 1}} {
		got := rec.Report().Items[i]
		if got.Ran != want.Ran || got.Passed != want.Passed || got.Rejected != want.Rejected || got.Errors != want.Errors || got.Ratcheted != want.Ratcheted {
			t.Errorf("rule %d: got %+v, want %+v", i, got, want)
		}
	}
}

func TestOnce(t *testing.T) {
	t.Parallel()
	crd := crdOf(t, "self.a || self.b")
	for _, name := range []string{"v1beta1", "v1alpha1"} {
		v := *crd.Spec.Versions[0].DeepCopy()
		v.Name, v.Storage = name, false
		crd.Spec.Versions = append(crd.Spec.Versions, v)
	}
	crd.Spec.Versions[2].Served = false
	crd.Spec.Versions[2].Schema = crdOf(t, "self.c").Spec.Versions[0].Schema
	variant := crdOf(t, "self.a || self.b", "self.d")
	rec := New()
	for version, one := range map[string]*apiextensionsv1.CustomResourceDefinition{"v1": variant, "v1beta1": crd} {
		e, err := engine.Compile(one, engine.Config{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := rec.Watch(one, e)
		if err != nil {
			t.Fatal(err)
		}
		object := widget(m{"a": version == "v1", "b": false, "d": true})
		object["apiVersion"] = "example.com/" + version
		if _, err := e.Validate(context.Background(), engine.Request{Object: object, Observe: w.Observe}); err != nil {
			t.Fatal(err)
		}
	}
	report := rec.Report()
	if report.Rules != 2 || report.Ran != 2 || report.Rejected != 1 {
		t.Fatalf("got %+v", report)
	}
	if item := report.Items[0]; item.Version != "v1" || item.Ran != 2 || item.Conditions[0].True != 1 || item.Conditions[0].False != 1 {
		t.Errorf("got %+v", item)
	}
}

// Both rules must take linear time.
func TestHostileRules(t *testing.T) {
	t.Parallel()
	var terms []string
	for i := range 1000 {
		terms = append(terms, "self."+string("abcdef"[i%6]))
	}
	crd := crdOf(t, strings.Join(terms, " && "), "self.list.all(x, self.list.all(y, x.a || y.b || x.c))", "self.list.all(x, "+strings.Join(terms, " || ")+")")
	var list []any
	for i := range 300 {
		list = append(list, m{"a": i%2 == 0, "b": true, "c": i%3 == 0})
	}
	spec := m{"a": true, "b": true, "c": true, "d": true, "e": true, "f": true, "list": list}
	report := measure(t, crd, widget(spec))
	if n := len(report.Items[0].Conditions); n != 1000 || report.Items[0].Conditions[999].True != 1 {
		t.Errorf("%d conditions, the last %+v", n, report.Items[0].Conditions[n-1])
	}
	if n := report.Items[1].Conditions; n[0].True+n[0].False+n[0].Errors != 300 || n[1].True+n[1].False != 300*300 {
		t.Errorf("got %+v", n)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	crd := crdOf(t, "self.a || self.b", "self.list.all(x, x.a || x.b)")
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var want string
	for range 3 {
		rec := New()
		w, err := rec.Watch(crd, e)
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for worker := range 4 {
			group.Go(func() {
				for i := range 50 {
					object := widget(m{"a": i%2 == 0, "b": i%3 == 0, "list": []any{m{"a": i%5 == 0, "b": worker == 0}}})
					if _, err := e.Validate(context.Background(), engine.Request{Object: object, Observe: w.Observe}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		data, err := json.Marshal(rec.Report())
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(data)
		}
		if string(data) != want {
			t.Fatalf("got %s\nwant %s", data, want)
		}
	}
}

func Example() {
	crd := crdOf(&testing.T{}, "!has(self.a) || self.b")
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		panic(err)
	}
	rec := New()
	w, err := rec.Watch(crd, e)
	if err != nil {
		panic(err)
	}
	object := widget(m{"a": true, "b": true})
	if _, err := e.Validate(context.Background(), engine.Request{Object: object, Observe: w.Observe}); err != nil {
		panic(err)
	}
	for _, gap := range rec.Report().Items[0].Gaps() {
		fmt.Println(gap.Text)
	}
	// Output:
	// never rejected
	// `has(self.a)` never false
	// `self.b` never false
}
