package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine"
)

func TestOverwork(t *testing.T) {
	t.Parallel()
	growing := strings.Replace(widgets, `- {rule: "self.size < 100"}`, `- {rule: "!has(self.note) || self.note.replace('', self.note).size() > 0 || true"}
            - {rule: "self.size > 1", messageExpression: "self.note.replace('', self.note)"}`, 1)
	note := strings.Repeat("x", 100_000)
	e := mustCompile(t, growing)
	decide := func(size int) (*engine.Result, error) {
		obj := object(t, widget(fmt.Sprintf(`{size: %d}`, size)))
		obj["spec"].(map[string]any)["note"] = note
		return e.Validate(t.Context(), engine.Request{Object: obj})
	}
	var undecided *engine.WorkLimitError
	res, err := decide(2)
	if res != nil || !errors.As(err, &undecided) || err.Error() != "undecided: spec: x-kubernetes-validations[1].rule: call of replace: it would allocate over 96 MiB of memory" {
		t.Errorf("got %+v, %v", res, err)
	}
	res, err = decide(1)
	if err != nil || res.Allowed || len(res.Causes) != 1 || res.Causes[0].Message != "Invalid value: failed rule: self.size > 1" || res.Undecided == nil {
		t.Errorf("got %+v, %v", res, err)
	}
	obj := object(t, widget(`{size: 2}`))
	obj["spec"].(map[string]any)["note"] = note
	seen, err := e.Prepare(engine.Request{Object: obj})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := seen.RunRules(t.Context()); !errors.As(err, &undecided) {
		t.Errorf("RunRules: got %v", err)
	}
}

func TestOverworkOfRules(t *testing.T) {
	t.Parallel()
	for rule, others := range map[string]int{
		`rule: "self.replace('', self) != ''"`:                                  1,
		`rule: "false", messageExpression: "self.replace('', self)"`:            2,
		`rule: "self.replace('', self) != '' || self.replace('', self) != 'a'"`: 1,
	} {
		rules, err := engine.CompileRules(structural(t, `{type: string, x-kubernetes-validations: [{`+rule+`}, {rule: "false"}]}`), engine.Config{Subtree: true})
		if err != nil {
			t.Fatal(err)
		}
		errs, remaining := rules.Validate(t.Context(), nil, strings.Repeat("x", 100_000), nil, celconfig.RuntimeCELCostBudget)
		last := errs[len(errs)-1]
		if len(errs) != others+1 || last.Type != field.ErrorTypeInternal || last.Origin != engine.WorkLimit || !strings.HasPrefix(last.Detail, "call of replace: it would allocate over 96 MiB of memory: for rule: ") || remaining >= 0 {
			t.Errorf("%s: got %d, %d errors, %.300s", rule, remaining, len(errs), last)
		}
	}
}

// Evaluations share the work limit, so that many expensive rules on many items need only a small multiple of it.
func TestOverworkIsShared(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	greedy := strings.Repeat(`{rule: "lists.range(50000).all(i, self.size() > i)"}, `, 8)
	rules, err := engine.CompileRules(structural(t, `{type: array, items: {type: string, x-kubernetes-validations: [`+greedy+`{rule: "!self.endsWith('b')"}]}}`), engine.Config{Subtree: true})
	if err != nil {
		t.Fatal(err)
	}
	items := make([]any, 100)
	for i := range items {
		items[i] = strings.Repeat("a", 100_000)
	}
	items[99] = "ab"
	errs, _ := rules.Validate(t.Context(), field.NewPath("list"), items, nil, celconfig.RuntimeCELCostBudget)
	if len(errs) != 2 || errs[0].Field != "list[99]" || errs[1].Origin != engine.WorkLimit {
		t.Errorf("got %.500s", errs.ToAggregate())
	}
}

func TestOverworkOfSchema(t *testing.T) {
	t.Parallel()
	for pattern, note := range map[string]string{
		"(x?){0,500}(y?x?){0,400}Z":     strings.Repeat("x", 1<<20),
		strings.Repeat("a{1000}", 3000): "a",
		"^(a|b|ab)*c$":                  strings.Repeat("ab", 20<<20),
	} {
		e := mustCompile(t, strings.Replace(widgets, "note: {type: string", "note: {type: string, pattern: '"+pattern+"'", 1))
		obj := object(t, widget(`{size: 2}`))
		obj["spec"].(map[string]any)["note"] = note
		var undecided *engine.WorkLimitError
		res, err := e.Validate(t.Context(), engine.Request{Object: obj})
		if res != nil || !errors.As(err, &undecided) || undecided.Part != "schema" || !strings.Contains(err.Error(), "pattern") {
			t.Errorf("%.30s: got %+v, %v", pattern, res, err)
		}
		obj["spec"].(map[string]any)["size"] = int64(1000)
		if res, err := e.Validate(t.Context(), engine.Request{Object: obj}); err != nil || res.Allowed || res.Undecided == nil {
			t.Errorf("%.30s: refused by a rule: got %+v, %v", pattern, res, err)
		}
	}
}

func TestManyOwners(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	e := mustCompile(t, widgets)
	obj := object(t, widget(`{size: 1}`))
	var owners []any
	for i := range 20_000 {
		owner := map[string]any{"apiVersion": "v1", "kind": "Pod", "name": fmt.Sprintf("p%d", i/2), "uid": fmt.Sprintf("u%d", i/2)}
		if i%4 == 1 {
			owner["blockOwnerDeletion"] = false // unlike the previous owner, which does not set it
		}
		owners = append(owners, owner)
	}
	obj["metadata"].(map[string]any)["ownerReferences"] = owners
	res, err := e.Validate(t.Context(), engine.Request{Object: obj})
	if err != nil || !res.Allowed {
		t.Fatal(res, err)
	}
	kept := res.Object["metadata"].(map[string]any)["ownerReferences"].([]any)
	if len(kept) != 15_000 || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "u1, u3, u5") {
		t.Errorf("kept %d, %.300s", len(kept), res.Warnings)
	}
}

func TestPrepareCreate(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	obj := object(t, `{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: d}, spec: {size: 1, color: red}, status: {phase: up}}`)
	before := maps.Clone(obj)
	p, err := e.Prepare(engine.Request{Object: obj})
	if err != nil || p.Version != "v1" || p.Old != nil || p.Self["status"] != nil || !reflect.DeepEqual(obj, before) {
		t.Fatalf("got %+v, %v of %v", p, err, obj)
	}
	if p, err = e.Prepare(engine.Request{Object: object(t, widget(`{size: 1, tags: [a]}`))}); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := p.Values([]engine.Step{{Name: "spec"}, {Name: "tags"}, {Item: true, Index: -1}}); ok {
		t.Error("an item before the first")
	}
}

func TestPlacesThatNeedQuotes(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, strings.Replace(widgets, "note:", `a.b: {type: integer, x-kubernetes-validations: [{rule: "self > 1"}]}
              note:`, 1))
	res, err := e.Validate(t.Context(), engine.Request{Object: object(t, widget(`{a.b: 0, size: 2}`))})
	if err != nil || len(res.Causes) != 1 {
		t.Fatal(res, err)
	}
	if got := res.Causes[0].Rule.Path; got != "spec['a.b']" {
		t.Errorf("got %s", got)
	}
	if _, err := e.At("", res.Causes[0].Rule.Path); err != nil {
		t.Error(err)
	}
}

func TestManyCauses(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	e := mustCompile(t, strings.Replace(widgets, "note:", `e: {type: array, items: {type: string, enum: [AAAAAAAA, BBBBBBBB]}}
              r: {type: array, items: {type: string, x-kubernetes-validations: [{rule: "self == 'x'", messageExpression: "self + ' is not x'"}]}}
              s: {type: array, x-kubernetes-list-type: set, items: {type: integer}}
              note:`, 1))
	many := func(n int, item func(i int) any) []any {
		items := make([]any, n)
		for i := range items {
			items[i] = item(i)
		}
		return items
	}
	for field, items := range map[string][]any{
		"e": many(30_000, func(int) any { return "a" }),
		"r": many(30_000, func(int) any { return "a" }),
		"s": many(60_000, func(i int) any { return int64(i / 2) }),
	} {
		obj := object(t, widget(`{size: 2}`))
		obj["spec"].(map[string]any)[field] = items
		res, err := e.Validate(t.Context(), engine.Request{Object: obj})
		if err != nil || res.Allowed || len(res.Causes) < 10_000 || len(res.Causes) > 10_001 {
			t.Fatalf("%s: got %d causes, %v", field, len(res.Causes), err)
		}
		if field == "r" && res.Cost < 30_000 {
			t.Errorf("cost %d", res.Cost)
		}
		// Unchanged values are ratcheted, regardless of their size.
		changed := object(t, widget(`{size: 3}`))
		changed["spec"].(map[string]any)[field] = items
		if res, err := e.Validate(t.Context(), engine.Request{Object: changed, OldObject: obj}); err != nil || !res.Allowed {
			t.Errorf("%s: update: got %+v, %v", field, res.Causes[:1], err)
		}
		if field != "e" {
			continue
		}
		changed["spec"].(map[string]any)[field] = append(many(20_000, func(int) any { return "b" }), items[20_000:]...)
		if res, err := e.Validate(t.Context(), engine.Request{Object: changed, OldObject: obj}); err != nil || res.Allowed || len(res.Causes) < 10_000 || len(res.Causes) > 10_001 {
			t.Errorf("%s: changed update: got %d causes, %v", field, len(res.Causes), err)
		}
	}
}
