package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine"
)

// growing are widgets with rules that make a text of the square of a note's
// length.
var growing = strings.Replace(widgets, `- {rule: "self.size < 100"}`, `- {rule: "!has(self.note) || self.note.replace('', self.note).size() > 0 || true"}
            - {rule: "self.size > 1", messageExpression: "self.note.replace('', self.note)"}`, 1)

// TestUnboundedRules: where a rule asks for memory without bound, nobody can
// know the server's answer.
func TestUnboundedRules(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, growing)
	obj := object(t, widget(`{size: 1}`))
	obj["spec"].(map[string]any)["note"] = strings.Repeat("x", 100_000)
	var undecided *engine.WorkLimitError
	if res, err := e.Validate(t.Context(), engine.Request{Object: obj}); res != nil || !errors.As(err, &undecided) || !strings.Contains(err.Error(), "call of replace") {
		t.Errorf("Validate: got %+v, %v", res, err)
	}
	if _, err := e.RunRules(t.Context(), "", obj, nil); !errors.As(err, &undecided) {
		t.Errorf("RunRules: got %v", err)
	}
	for _, rule := range []string{`rule: "self.replace('', self) != ''"`, `rule: "false", messageExpression: "self.replace('', self)"`} {
		rules, err := engine.CompileRules(structural(t, `{type: string, x-kubernetes-validations: [{`+rule+`}, {rule: "false"}]}`), engine.Config{Subtree: true})
		if err != nil {
			t.Fatal(err)
		}
		errs, remaining := rules.Validate(t.Context(), nil, strings.Repeat("x", 100_000), nil, celconfig.RuntimeCELCostBudget)
		if len(errs) == 0 || !strings.Contains(errs[0].Error(), "Internal error: call of replace: the text would have over 64 MiB: for rule") || remaining >= 0 {
			t.Errorf("%s: got %d, %.300s", rule, remaining, errs.ToAggregate().Error())
		}
	}
}

// TestManyOwners are looked through once.
func TestManyOwners(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	obj := object(t, widget(`{size: 1}`))
	var owners []any
	for i := range 20_000 {
		owner := map[string]any{"apiVersion": "v1", "kind": "Pod", "name": fmt.Sprintf("p%d", i/2), "uid": fmt.Sprintf("u%d", i/2)}
		if i%4 == 1 {
			owner["blockOwnerDeletion"] = false // unlike the one before, which has none
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

// TestSeen leaves the request's object as it is.
func TestSeen(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, widgets)
	obj := object(t, `{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: d}, spec: {size: 1, color: red}, status: {phase: up}}`)
	before := maps.Clone(obj)
	self, old, err := e.Seen(engine.Request{Object: obj})
	if err != nil || old != nil || self["status"] != nil || !reflect.DeepEqual(obj, before) {
		t.Errorf("got %v, %v, %v of %v", self, old, err, obj)
	}
	if _, _, ok := e.Values("v1", []engine.Step{{Name: "spec"}, {Name: "tags"}, {Item: true, Index: -1}}, object(t, widget(`{tags: [a]}`)), nil); ok {
		t.Error("an item before the first")
	}
	if _, err := e.RunRules(t.Context(), "v9", self, nil); err == nil || !strings.Contains(err.Error(), `version "v9": the CRD has v1`) {
		t.Errorf("RunRules: %v", err)
	}
}

// TestPlacesThatNeedQuotes can be read back.
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
