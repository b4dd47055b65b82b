package compare_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/analysis/compare"
	"github.com/celadon-cel/celadon/x/crdcopy"
	"github.com/celadon-cel/celadon/x/valuediff"
)

var claimParts = [][]string{
	fieldsOf("a", "type: string", "type: string, default: x", "type: string, default: w", "type: string, maxLength: 2", "type: string, enum: [x, w]", "type: string, enum: [x, w, z]",
		`type: string, nullable: true`, `type: string, nullable: true, default: x`, `type: string, nullable: true, enum: [x, w, null]`, `type: string, nullable: true, enum: [x, w]`,
		"x-kubernetes-int-or-string: true", "type: string, minLength: 1", "type: string, pattern: '^[a-x]*$'", "type: string, format: date"),
	fieldsOf("c", "type: integer", "type: number", "type: integer, default: 1", "type: integer, default: 2", "type: integer, minimum: 1", "type: integer, maximum: 3", "x-kubernetes-int-or-string: true",
		"type: integer, nullable: true", "type: integer, multipleOf: 2"),
	fieldsOf("b", "type: boolean", "type: boolean, default: true", "type: boolean, default: false", "type: string"),
	fieldsOf("l", "type: array, items: {type: string}", "type: array, x-kubernetes-list-type: set, items: {type: string}", "type: array, maxItems: 2, items: {type: string}", "type: array, minItems: 1, items: {type: string}",
		"type: array, default: [x], items: {type: string}", "type: array, items: {type: string, maxLength: 1}", "type: array, items: {type: string, nullable: true}"),
	fieldsOf("m", keyed("", "{type: string, default: x}"), keyed("", "{type: string, default: w}"), keyed("required: [k], ", "{type: string}"),
		"type: array, items: {type: object, properties: {k: {type: string}, v: {type: integer}}}", "type: array, items: {type: object, properties: {k: {type: string, default: x}, v: {type: integer}}}"),
	fieldsOf("o", object("p: {type: string}, q: {type: string}"), object("p: {type: string, default: x}, q: {type: string}"), object("p: {type: string}, q: {type: string, default: x}"), object("p: {type: string}"),
		"default: {}, "+object("p: {type: string}, q: {type: string, default: x}"), "default: {p: x}, "+object("p: {type: string}, q: {type: string}"),
		"minProperties: 1, "+object("p: {type: string}, q: {type: string}"), "minProperties: 1, "+object("p: {type: string, default: x}, q: {type: string}"),
		"maxProperties: 1, "+object("p: {type: string}, q: {type: string}"), "maxProperties: 1, "+object("p: {type: string, nullable: true}, q: {type: string}"), "required: [p], "+object("p: {type: string}, q: {type: string}"),
		"oneOf: [{required: [p]}, {required: [q]}], "+object("p: {type: string}, q: {type: string}"), "oneOf: [{required: [p]}, {required: [q]}], "+object("p: {type: string, nullable: true}, q: {type: string}"),
		"x-kubernetes-preserve-unknown-fields: true, "+object("p: {type: string}"), "x-kubernetes-preserve-unknown-fields: true, "+object("p: {type: string}, q: {type: string, default: x}"),
		"type: object, additionalProperties: {type: string}", "type: object, maxProperties: 1, additionalProperties: {type: string}", "type: object, additionalProperties: {type: string, nullable: true}"),
	{"", "required: [a]", "required: [c]", "required: [a, c]", "required: [l]", "required: [o]", "minProperties: 2", "maxProperties: 3", "required: [b]", "anyOf: [{required: [a]}, {required: [b]}]"},
}

var claimRules = []string{
	"has(self.a)", "!has(self.a) || self.a != 'x'", "!has(self.a) || size(self.a) <= 2", "has(self.a) == has(self.c)", "!has(self.c) || self.c < 3", "!has(self.c) || self.c > 0", "!has(self.c) || self.c % 2 == 0",
	"!has(self.a) || !has(self.c) || self.a != 'w' || self.c == 1", "has(self.o) || has(self.b)", "!has(self.o) || has(self.o.p)", "!has(self.o) || !has(self.o.q) || self.o.q != 'x'", "!has(self.l) || size(self.l) < 3",
	"!has(self.l) || self.l == ['x', 'w'] || size(self.l) != 2", "!has(self.m) || self.m.all(i, !has(i.k) || i.k != 'w')", "!has(self.m) || self.m.exists_one(i, has(i.k) && i.k == 'x')", "!has(self.b) || self.b", "has(self.b) && self.b ? has(self.c) : true",
	"!has(self.a) || !has(oldSelf.a) || self.a == oldSelf.a", "!has(self.l) || self.l.all(s, s in ['x', 'w'])", "!has(self.a) || self.a in ['x', 'w']", "!has(self.a) || string(self.a) != 'w'", "!has(self.c) || string(self.c) != '1'",
}

func fieldsOf(name string, schemas ...string) (all []string) {
	for _, s := range schemas {
		all = append(all, name+": {"+s+"}")
	}
	return append(all, "")
}

func keyed(required, key string) string {
	return "type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, " + required + "properties: {k: " + key + ", v: {type: integer}}}"
}

func object(properties string) string { return "type: object, properties: {" + properties + "}" }

// A claimSpec is a generated CRD: an index in each of claimParts, and indexes in claimRules.
type claimSpec struct {
	parts []int
	rules []int
}

func randomSpec(rng *rand.Rand) claimSpec {
	s := claimSpec{parts: make([]int, len(claimParts))}
	for i := range s.parts {
		s.parts[i] = rng.IntN(len(claimParts[i]))
	}
	for range rng.IntN(4) {
		s.rules = append(s.rules, rng.IntN(len(claimRules)))
	}
	return s
}

func (s claimSpec) changed(rng *rand.Rand) claimSpec {
	s = claimSpec{slices.Clone(s.parts), slices.Clone(s.rules)}
	for range 1 + rng.IntN(4) {
		switch i := rng.IntN(len(s.parts) + 2); {
		case i < len(s.parts):
			s.parts[i] = rng.IntN(len(claimParts[i]))
		case i == len(s.parts):
			s.rules = append(s.rules, rng.IntN(len(claimRules)))
		case len(s.rules) > 0:
			s.rules = slices.Delete(s.rules, 0, 1)
		}
	}
	return s
}

// crd returns nil if a server would reject the CRD.
func (s claimSpec) crd(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	var fields, rules []string
	more := claimParts[len(claimParts)-1][s.parts[len(claimParts)-1]]
	for i, n := range s.parts[:len(claimParts)-1] {
		if text := claimParts[i][n]; text != "" {
			fields = append(fields, text)
		}
	}
	for _, n := range s.rules {
		rules = append(rules, fmt.Sprintf("{rule: %q}", claimRules[n]))
	}
	text := "{type: object, properties: {" + strings.Join(fields, ", ") + "}"
	if more != "" {
		text += ", " + more
	}
	if len(rules) > 0 {
		text += ", x-kubernetes-validations: [" + strings.Join(rules, ", ") + "]"
	}
	crd := crdOf(t, text+"}")
	crd.APIVersion, crd.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	data, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	r, err := vet.Vet(t.Context(), data, vet.Config{VerdictOnly: true})
	if err != nil || !r.Accepted {
		return nil
	}
	return crd
}

var claimValues = map[string][]any{
	"a": {"", "x", "w", "z", "xyz", "2020-01-01", nil, int64(1)}, "c": {int64(0), int64(1), int64(2), int64(3), int64(4), 1.5, nil, "1"}, "b": {true, false, "x", nil},
	"l": {[]any{}, []any{"x"}, []any{"x", "w"}, []any{"w", "x"}, []any{"x", "x"}, []any{"x", "w", "z"}, []any{nil}, []any{"xy"}, nil},
	"m": {[]any{}, []any{map[string]any{}}, []any{map[string]any{"k": "x"}}, []any{map[string]any{"k": "w"}}, []any{map[string]any{}, map[string]any{"k": "w"}}, []any{map[string]any{}, map[string]any{"k": "x"}}, []any{map[string]any{"k": "z", "v": int64(1)}, map[string]any{"k": "w"}}},
	"o": {map[string]any{}, map[string]any{"p": "x"}, map[string]any{"q": "x"}, map[string]any{"q": "w"}, map[string]any{"p": "w", "q": "w"}, map[string]any{"p": nil, "q": "w"}, map[string]any{"r": "w"}, map[string]any{"p": nil}, nil},
}

func randomClaimObject(rng *rand.Rand) map[string]any {
	spec := map[string]any{}
	for _, name := range []string{"a", "c", "b", "l", "m", "o"} {
		if values := claimValues[name]; rng.IntN(2) == 0 {
			spec[name] = values[rng.IntN(len(values))]
		}
	}
	return map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "a", "namespace": "default"}, "spec": spec}
}

// TestClaims checks what comparisons claim about random CRDs with several changes against random objects. A change
// has an effect on an object if the new CRD without the change treats the object differently.
func TestClaims(t *testing.T) {
	t.Parallel()
	pairs, objects := 60, 300
	switch {
	case level.Quick():
		pairs, objects = 15, 200
	case level.Long():
		pairs, objects = 2000, 10_000
	}
	parallel(pairs, func(i int) {
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		var before, after *apiextensionsv1.CustomResourceDefinition
		for before == nil || after == nil {
			old := randomSpec(rng)
			if before = old.crd(t); before != nil {
				after = old.changed(rng).crd(t)
			}
		}
		r, err := compare.CRDs(t.Context(), before, after, compare.Config{Steps: 200})
		if err != nil {
			t.Error(err)
			return
		}
		c := newClaims(t, before, after, r)
		for range objects {
			if c.check(t, randomClaimObject(rng), randomClaimObject(rng)) {
				return
			}
		}
	})
}

type claims struct {
	report        *compare.Report
	before, after *engine.Engine
	compatible    bool // no change breaks anything, by proof
	equivalent    bool
	without       []*engine.Engine // the new CRD without each change; nil if that is not checked
	describe      string
}

func newClaims(t *testing.T, before, after *apiextensionsv1.CustomResourceDefinition, r *compare.Report) *claims {
	c := &claims{report: r, before: compiledCRD(before), after: compiledCRD(after), compatible: true, equivalent: true, without: make([]*engine.Engine, len(r.Changes))}
	for i := range r.Changes {
		ch := &r.Changes[i]
		c.equivalent = c.equivalent && ch.Effect == compare.Equivalent
		if ch.Effect.Breaks() || ch.By != compare.ByProof {
			c.compatible = false
		} else if crd := reverted(before, after, ch); crd != nil {
			c.without[i] = compiledCRD(crd)
		}
	}
	spec := func(crd *apiextensionsv1.CustomResourceDefinition) string {
		data, err := json.Marshal(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"])
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	c.describe = fmt.Sprintf("old %s\nnew %s", spec(before), spec(after))
	return c
}

func compiledCRD(crd *apiextensionsv1.CustomResourceDefinition) *engine.Engine {
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		return nil
	}
	return e
}

func reverted(before, after *apiextensionsv1.CustomResourceDefinition, c *compare.CRDChange) *apiextensionsv1.CustomResourceDefinition {
	steps, err := engine.ParsePath(c.Path)
	if err != nil {
		return nil
	}
	from := before.Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, step := range steps[:max(0, len(steps)-1)] {
		from = childOf(from, step)
	}
	last := steps[len(steps)-1]
	at := steps
	if c.Subject == "field" || c.Subject == "required" {
		at = steps[:len(steps)-1]
	} else {
		from = childOf(from, last)
	}
	if from == nil {
		return nil
	}
	key := c.NewField[strings.LastIndex(c.NewField, ".")+1:]
	crd, ok := crdcopy.With(after, "v1", at, func(s *props) { revert(s, from, last.Name, c.Subject, key, c) })
	if !ok {
		return nil
	}
	return crd
}

func childOf(s *props, step engine.Step) *props {
	switch {
	case s == nil:
		return nil
	case !step.Any && !step.Item:
		if p, ok := s.Properties[step.Name]; ok {
			return &p
		}
	case s.Items != nil:
		return s.Items.Schema
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Schema
	}
	return nil
}

func revert(s, old *props, name, subject, key string, c *compare.CRDChange) {
	switch subject {
	case "field":
		own := map[string]props{}
		maps.Copy(own, s.Properties)
		delete(own, name)
		if p, ok := old.Properties[name]; ok {
			own[name] = p
		}
		s.Properties = own
	case "required":
		s.Required = slices.DeleteFunc(slices.Clone(s.Required), func(n string) bool { return n == name })
		if slices.Contains(old.Required, name) {
			s.Required = append(s.Required, name)
		}
	case "rule":
		s.XValidations = slices.DeleteFunc(slices.Clone(s.XValidations), func(r aRule) bool { return r.Rule == c.New })
		if c.Old != "" {
			s.XValidations = append(s.XValidations, aRule{Rule: c.Old})
		}
	case "type":
		s.Type, s.XIntOrString = old.Type, old.XIntOrString
	case "default":
		s.Default = old.Default
	case "nullable":
		s.Nullable = old.Nullable
	case "enum":
		s.Enum = old.Enum
	case "pattern":
		s.Pattern = old.Pattern
	case "format":
		s.Format = old.Format
	case "list type":
		s.XListType, s.XListMapKeys = old.XListType, old.XListMapKeys
	case "oneOf":
		s.OneOf = old.OneOf
	case "anyOf":
		s.AnyOf = old.AnyOf
	case "pruning":
		s.XPreserveUnknownFields = old.XPreserveUnknownFields
	case "bound":
		switch key {
		case "maxLength":
			s.MaxLength = old.MaxLength
		case "minLength":
			s.MinLength = old.MinLength
		case "maxItems":
			s.MaxItems = old.MaxItems
		case "minItems":
			s.MinItems = old.MinItems
		case "maxProperties":
			s.MaxProperties = old.MaxProperties
		case "minProperties":
			s.MinProperties = old.MinProperties
		case "minimum":
			s.Minimum = old.Minimum
		case "maximum":
			s.Maximum = old.Maximum
		case "multipleOf":
			s.MultipleOf = old.MultipleOf
		}
	}
}

func (c *claims) check(t *testing.T, obj, other map[string]any) (failed bool) {
	old := outcome(t, c.before, obj, nil, "Strict")
	req := func(e *engine.Engine, was map[string]any) *engine.Result { return outcome(t, e, obj, was, "Ignore") }
	now := req(c.after, nil)
	contradicts := func(what string, i int) {
		failed = true
		if i >= 0 {
			ch := &c.report.Changes[i]
			what = fmt.Sprintf("%s %s %q -> %q: %s (%s): %s", ch.Path, ch.Subject, ch.Old, ch.New, ch.Effect, ch.Proof, what)
		}
		t.Errorf("%s\n%s\nobject %v", what, c.describe, obj["spec"])
	}
	known := old.Allowed || outcome(t, c.before, obj, nil, "Ignore").Allowed == old.Allowed // unknown fields do not matter
	if !known {
		return false
	}
	if c.compatible && old.Allowed {
		switch {
		case !now.Allowed:
			contradicts(fmt.Sprintf("compatible, but rejected: %v", now.Causes), -1)
		case loses(old.Object, now.Object) != "":
			contradicts("compatible, but persisted without "+loses(old.Object, now.Object), -1)
		}
		if stored := outcome(t, c.before, other, nil, "Strict"); stored.Allowed && !failed {
			if outcome(t, c.before, obj, stored.Object, "Strict").Allowed && !req(c.after, stored.Object).Allowed {
				contradicts(fmt.Sprintf("compatible, but an update of %v is rejected", stored.Object["spec"]), -1)
			}
		}
	}
	for i, e := range c.without {
		if e == nil || failed {
			continue
		}
		without, equivalent := req(e, nil), c.report.Changes[i].Effect == compare.Equivalent
		switch {
		case old.Allowed && !now.Allowed && without.Allowed:
			contradicts(fmt.Sprintf("rejected because of the change: %v", now.Causes), i)
		case old.Allowed && now.Allowed && without.Allowed && loses(old.Object, now.Object) != "" && loses(old.Object, without.Object) == "":
			contradicts("loses "+loses(old.Object, now.Object), i)
		case equivalent && old.Allowed && now.Allowed && without.Allowed && differs(now.Object, without.Object) != "":
			contradicts("persisted differently: "+differs(now.Object, without.Object), i)
		case equivalent && c.equivalent && !old.Allowed && now.Allowed && !without.Allowed: // otherwise it may be due to two changes
			contradicts(fmt.Sprintf("accepted because of the change: %v", without.Causes), i)
		}
	}
	return failed
}

func outcome(t *testing.T, e *engine.Engine, obj, old map[string]any, validation string) *engine.Result {
	res, err := e.Validate(t.Context(), engine.Request{Object: obj, OldObject: old, FieldValidation: validation})
	if err != nil {
		t.Error(err)
		return &engine.Result{}
	}
	return res
}

func loses(was, is map[string]any) string {
	for c := range valuediff.Values(was["spec"], is["spec"]) {
		if !c.Added {
			return fmt.Sprint(c)
		}
	}
	return ""
}

func differs(was, is map[string]any) string {
	for c := range valuediff.Values(was["spec"], is["spec"]) {
		return fmt.Sprint(c)
	}
	return ""
}
