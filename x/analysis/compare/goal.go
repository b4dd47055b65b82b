package compare

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/crdcopy"
)

// A goal is a requirement of one side that the other does not have, as a rule.
type goal struct {
	at   schemaPath
	rule string
	// from is the rule of the CRD from which the goal is made, or nil.
	from  *apiextensionsv1.ValidationRule
	index int
	of    *props
	// within, if set, is the path at which a rejection is expected. The default is the path of the rule.
	within schemaPath
	// values are inserted at the path in turn, if no rule can express the requirement. under, if not
	// "", is the field below the path that gets them.
	values []any
	under  string
	// kept is set if an object that both sides persist, but differently, also demonstrates the change.
	kept bool
	// ofSelf is set if the rule constrains a scalar or the length of a list, so that no defaults below
	// it matter. A default of the value itself meets the requirement.
	ofSelf bool
	// defaulted is set if the goal is a missing or null value for which the sides may persist different defaults.
	defaulted bool
}

type absent struct{}

// samples returns values to try if CEL cannot express a requirement.
func samples(s *props) []any {
	values := []any{"", "x", "1", "a b", "!", "A_", "::", "1.2.3.4", "https://example.com/a", "2020-01-01", "2020-01-01T00:00:00Z", "1h", "aGk=", "a@b.example", "a.example", int64(0), int64(1), int64(-1), int64(1) << 40, 1.5, true, nil, []any{}, map[string]any{}}
	if s == nil {
		return values
	}
	for _, raw := range s.Enum {
		if v, err := decoded(raw.Raw); err == nil {
			values = append(values, v)
		}
	}
	return values
}

func wrapped(values []any) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = map[string]any{"a": v}
	}
	return all
}

// wider lists the types that accept all values of a type.
var wider = map[string][]string{"integer": {"number", "int-or-string"}, "string": {"int-or-string"}}

// takes returns the goal for values of one schema that the type of the other does not accept, or nil if it accepts
// them all.
func (w *walker) takes(at schemaPath, by, of *props) *goal {
	if slices.Contains(wider[typeOf(of)], typeOf(by)) || typeOf(by) == "anything" {
		return nil
	}
	return w.present(at, of, samples(of))
}

func (w *walker) nullable(at schemaPath, o, n *props) {
	if o.Nullable == n.Nullable {
		return
	}
	g := func(of *props) *goal {
		if !of.Nullable {
			return nil
		}
		return w.present(at, of, []any{nil})
	}
	breaks := g(o)
	if n.Nullable && len(at.steps) > 0 && !at.steps[len(at.steps)-1].Any { // null was dropped or replaced by the default
		breaks = w.filled(at)
		breaks.values = []any{nil}
	}
	ch := w.add(at, ".nullable", "nullable", fmt.Sprint(o.Nullable), fmt.Sprint(n.Nullable), breaks, g(n))
	ch.altered, ch.adds = true, n.Nullable
}

func (w *walker) defaulted(at schemaPath, o, n *props) {
	if old, new := compact(o.Default), compact(n.Default); old != new && len(at.steps) > 0 && !at.steps[len(at.steps)-1].Any {
		ch := w.add(at, ".default", "default", defaultOf(o), defaultOf(n), w.filled(at), nil)
		ch.altered, ch.adds = true, true
	}
}

func defaultOf(s *props) string {
	if s.Default == nil {
		return ""
	}
	v, _ := decoded(s.Default.Raw)
	return compact(veiled(s, v))
}

// veiled returns a value with its passwords hidden. It does not change v.
func veiled(s *props, v any) any {
	switch v := v.(type) {
	case string:
		if s != nil && s.Format == password {
			return hidden
		}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = veiled(crdcopy.At(s, engine.Step{Item: true}), item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			out[name] = veiled(crdcopy.At(s, engine.Step{Name: name}), field)
		}
		return out
	}
	return v
}

var pruning = map[bool]string{true: "unknown fields are kept", false: "unknown fields are pruned"}

func (w *walker) preserved(at schemaPath, o, n *props) {
	if preserves(o) == preserves(n) || typeOf(o) != typeOf(n) {
		return
	}
	g := func(of *props) *goal {
		if !preserves(of) {
			return nil
		}
		return &goal{at: at, rule: "false", of: of, within: at, under: "unknownField", values: samples(nil), kept: true}
	}
	ch := w.add(at, ".x-kubernetes-preserve-unknown-fields", "pruning", pruning[preserves(o)], pruning[preserves(n)], g(o), g(n))
	ch.altered = true
}

func (w *walker) required(at schemaPath, o, n *props) {
	for _, name := range sortedSet(o.Required, n.Required) {
		had, has := slices.Contains(o.Required, name), slices.Contains(n.Required, name)
		if had == has {
			continue
		}
		text := map[bool]string{true: "required"}
		ch := w.add(at.field(name), "", "required", text[had], text[has], w.requires(at, name, has, n), w.requires(at, name, had, o))
		ch.OldField, ch.NewField = at.oldField+".required", at.newField+".required"
	}
}

func (w *walker) requires(at schemaPath, name string, required bool, by *props) *goal {
	if p := by.Properties[name]; !required || p.Default != nil {
		return nil
	}
	if ident, ok := types.Escape(name); ok {
		return &goal{at: schemaPath{steps: at.steps}, rule: "has(self." + ident + ")", within: at.field(name)}
	}
	return &goal{at: schemaPath{steps: at.steps}, rule: "false", under: name, values: []any{absent{}}}
}

func (w *walker) logic(at schemaPath, o, n *props) {
	for _, pair := range []struct {
		key           string
		before, after props
	}{
		{"allOf", props{AllOf: o.AllOf}, props{AllOf: n.AllOf}},
		{"anyOf", props{AnyOf: o.AnyOf}, props{AnyOf: n.AnyOf}},
		{"oneOf", props{OneOf: o.OneOf}, props{OneOf: n.OneOf}},
		{"not", props{Not: o.Not}, props{Not: n.Not}},
	} {
		if old, new := compactLogic(&pair.before), compactLogic(&pair.after); old != new {
			w.add(at, "."+pair.key, pair.key, old, new, w.reasoned(at, &pair.after, n), w.reasoned(at, &pair.before, o))
		}
	}
}

func compactLogic(s *props) string {
	if text := compact(s); text != "{}" {
		return text[strings.Index(text, ":")+1 : len(text)-1]
	}
	return ""
}

func (w *walker) reasoned(at schemaPath, only, whole *props) *goal {
	if compactLogic(only) == "" {
		return nil
	}
	if rule, ok := celCondition(only, whole, "self", 0); ok {
		return &goal{at: at, rule: rule}
	}
	return &goal{at: at, rule: "false", of: whole, values: samples(whole)}
}

const maxConditionDepth = 6

// celCondition returns the constraints of a partial schema on x as a CEL expression, or false if CEL cannot express
// them. whole is the schema that has the types.
func celCondition(s, whole *props, x string, depth int) (string, bool) {
	if depth > maxConditionDepth {
		return "", false
	}
	var all []string
	for i := range facets {
		if f := &facets[i]; f.text(s) != "" {
			rule := f.rule(s, whole.Type, x)
			if rule == "" || f.key == "enum" && whole.Nullable { // rules do not see null
				return "", false
			}
			all = append(all, rule)
		}
	}
	for _, name := range s.Required {
		field, ok := types.Escape(name)
		if _, known := whole.Properties[name]; !ok || !known {
			return "", false
		}
		all = append(all, fmt.Sprintf("has(%s.%s)", x, field))
	}
	for _, name := range sortedKeys(s.Properties) {
		below, known := s.Properties[name], false
		var typed props
		if typed, known = whole.Properties[name]; !known {
			return "", false
		}
		field, ok := types.Escape(name)
		rule, expressible := celCondition(&below, &typed, x+"."+field, depth+1)
		if !ok || !expressible {
			return "", false
		}
		all = append(all, fmt.Sprintf("(!has(%s.%s) || %s)", x, field, rule))
	}
	if s.Items != nil || s.AdditionalProperties != nil || s.Type != "" && s.Type != whole.Type {
		return "", false
	}
	combined, ok := combinations(s, whole, x, depth)
	return conjunction(append(all, combined...)), ok
}

func combinations(s, whole *props, x string, depth int) (all []string, ok bool) {
	each := func(list []props) (rules []string, ok bool) {
		for i := range list {
			rule, ok := celCondition(&list[i], whole, x, depth+1)
			if !ok {
				return nil, false
			}
			rules = append(rules, rule)
		}
		return rules, true
	}
	allOf, ok1 := each(s.AllOf)
	anyOf, ok2 := each(s.AnyOf)
	oneOf, ok3 := each(s.OneOf)
	if !ok1 || !ok2 || !ok3 {
		return nil, false
	}
	all = allOf
	if len(anyOf) > 0 {
		all = append(all, "("+strings.Join(anyOf, " || ")+")")
	}
	if len(oneOf) > 0 {
		for i := range oneOf {
			oneOf[i] = "(" + oneOf[i] + " ? 1 : 0)"
		}
		all = append(all, strings.Join(oneOf, " + ")+" == 1")
	}
	if s.Not != nil {
		rule, ok := celCondition(s.Not, whole, x, depth+1)
		if !ok {
			return nil, false
		}
		all = append(all, "!"+rule)
	}
	return all, true
}

func conjunction(all []string) string {
	if len(all) == 0 {
		return "true"
	}
	return "(" + strings.Join(all, " && ") + ")"
}

// formatted returns strings of a format that CEL does not represent as strings, if possible some longer and some
// shorter than n characters. A rule cannot constrain the text of such strings. It returns nil for other formats.
func formatted(format string, n int64) []any {
	n = min(n, maxFormatted)
	switch strings.ReplaceAll(format, "-", "") {
	case "byte":
		return []any{"", "YQ==", strings.Repeat("YWFh", int(n-1)/4), strings.Repeat("YWFh", int(n)/4+1)}
	case "date":
		return []any{"2020-01-01"}
	case "datetime":
		return []any{"2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5Z", "2020-01-01T00:00:00+01:00", "2020-01-01T00:00:00.123456789+01:00"}
	case "duration":
		return []any{"0", "1s", "24h", "90ms", strings.Repeat("1s", int(n)/2+1)}
	}
	return nil
}

const maxFormatted = 1 << 20
