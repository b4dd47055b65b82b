package compare

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

type props = apiextensionsv1.JSONSchemaProps

type walker struct {
	*comparison
	before, after *side
}

// A schemaPath is a path in both schemas: in objects, and as a field of either CRD.
type schemaPath struct {
	steps              []engine.Step
	oldField, newField string
}

func (p schemaPath) field(name string) schemaPath {
	below := ".properties[" + name + "]"
	return schemaPath{append(slices.Clip(p.steps), engine.Step{Name: name}), p.oldField + below, p.newField + below}
}

func (p schemaPath) any(below string) schemaPath {
	return schemaPath{append(slices.Clip(p.steps), engine.Step{Any: true}), p.oldField + below, p.newField + below}
}

func (p schemaPath) last() string { return p.steps[len(p.steps)-1].Name }

func (c *comparison) pair(before, after *side) {
	w := &walker{c, before, after}
	if o, n := before.schema(), after.schema(); o != nil && n != nil {
		w.node(schemaPath{nil, before.field(schemaField), after.field(schemaField)}, o, n)
	}
}

func (w *walker) add(at schemaPath, key, subject, old, new string, breaks, loosens *goal) *change {
	ch := &change{before: w.before, after: w.after, breaks: breaks, loosens: loosens, at: at}
	ch.CRDChange = CRDChange{
		Version: w.after.version.Name, OldVersion: w.before.version.Name,
		Path: engine.FormatPath(at.steps), Subject: subject, Old: old, New: new,
		OldField: at.oldField + key, NewField: at.newField + key,
	}
	w.changes = append(w.changes, ch)
	w.bytes += keptBytes * (len(ch.Path) + len(ch.OldField) + len(ch.NewField) + len(old) + len(new))
	return ch
}

func (w *walker) node(at schemaPath, o, n *props) {
	w.bytes += len(at.oldField)
	if len(at.steps) == 1 && at.last() == "metadata" {
		w.metadata(at, o, n)
		return
	}
	if old, new := typeOf(o), typeOf(n); old != new {
		w.add(at, ".type", "type", old, new, w.takes(at, n, o), w.takes(at, o, n)).altered = true
	}
	w.facets(at, o, n)
	w.logic(at, o, n)
	w.nullable(at, o, n)
	w.defaulted(at, o, n)
	w.required(at, o, n)
	w.preserved(at, o, n)
	w.rules(at, o, n)
	w.below(at, o, n)
}

// A CRD cannot constrain other fields of the root's metadata.
func (w *walker) metadata(at schemaPath, o, n *props) {
	for _, name := range []string{"name", "generateName"} {
		before, after := o.Properties[name], n.Properties[name]
		w.facets(at.field(name), &before, &after)
	}
}

func (w *walker) below(at schemaPath, o, n *props) {
	for _, name := range sortedSet(slices.Collect(maps.Keys(o.Properties)), slices.Collect(maps.Keys(n.Properties))) {
		if w.full() != nil {
			return
		}
		before, had := o.Properties[name]
		after, has := n.Properties[name]
		switch {
		case had && has:
			w.node(at.field(name), &before, &after)
		case had:
			w.removed(at.field(name), &before, n)
		default:
			w.added(at.field(name), o, &after)
		}
	}
	if o.Items != nil && n.Items != nil && o.Items.Schema != nil && n.Items.Schema != nil {
		w.node(at.any(".items"), o.Items.Schema, n.Items.Schema)
	}
	before, after := valuesOf(o), valuesOf(n)
	switch {
	case before != nil && after != nil:
		w.node(at.any(".additionalProperties"), before, after)
	case before != nil:
		g := w.present(at.any(""), before, nil)
		w.add(at, ".additionalProperties", "pruning", "any key", "", g, nil)
	case after != nil && len(o.Properties) == 0 && !preserves(o):
		w.add(at, ".additionalProperties", "pruning", "", "any key", nil, w.present(at.any(""), after, nil))
	case after != nil && preserves(o):
		w.add(at, ".additionalProperties", "type", "anything", typeOf(after), w.present(at, o, wrapped(samples(nil))), nil)
	}
}

func valuesOf(s *props) *props {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

func preserves(s *props) bool { return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields }

// The values of a removed field are now pruned, preserved without validation, or validated as values of a map.
func (w *walker) removed(at schemaPath, o, parent *props) {
	if preserves(parent) || valuesOf(parent) != nil {
		ch := w.add(at, "", "field", typeOf(o), "", nil, w.present(at, o, samples(o)))
		ch.NewField = upper(ch.NewField)
		if valuesOf(parent) != nil {
			ch.breaks = w.present(at, o, nil)
		} else if ch.altered = true; o.Default != nil {
			ch.breaks = w.filled(at)
		}
		return
	}
	ch := w.add(at, "", "field", typeOf(o), "", w.present(at, o, nil), nil)
	ch.NewField = upper(ch.NewField)
}

// The values of a new field were pruned, preserved without validation, or validated as values of a map.
func (w *walker) added(at schemaPath, parent, n *props) {
	loosens := w.present(at, n, nil)
	var breaks *goal
	if preserves(parent) || valuesOf(parent) != nil {
		breaks = &goal{at: schemaPath{steps: at.steps[:len(at.steps)-1]}, rule: "false", under: at.last(), values: samples(n)}
	}
	text, value := typeOf(n), defaultOf(n)
	if value != "" {
		text += ", default " + value
		if breaks == nil {
			breaks = w.filled(at)
		}
	}
	ch := w.add(at, "", "field", "", text, breaks, loosens)
	ch.adds = value != ""
	ch.altered = ch.adds || preserves(parent)
	ch.OldField = upper(ch.OldField)
}

// upper returns the parent of a field of a schema. The last name can contain dots: properties[a.b].
func upper(field string) string {
	end := len(field)
	if strings.HasSuffix(field, "]") {
		end = max(strings.LastIndexByte(field, '['), 0)
	}
	if i := strings.LastIndexByte(field[:end], '.'); i >= 0 {
		return field[:i]
	}
	return field
}

func (w *walker) present(at schemaPath, s *props, values []any) *goal {
	return &goal{at: at, rule: "false", of: s, values: values, kept: true}
}

// filled returns the goal for an object without a field that a default may set.
func (w *walker) filled(at schemaPath) *goal {
	parent := schemaPath{steps: at.steps[:len(at.steps)-1]}
	return &goal{at: parent, rule: "false", under: at.last(), values: []any{absent{}}, kept: true, defaulted: true}
}

// compact returns v as JSON on one line, or "" for null.
func compact(v any) string {
	data, err := json.Marshal(v)
	if err != nil || string(data) == "null" {
		return ""
	}
	return string(data)
}

// sameValues reports whether both schemas read any object as the same values. New fields without a default do not
// matter.
func sameValues(before, after *props) bool {
	if typeOf(before) != typeOf(after) || before.Nullable != after.Nullable || before.Format != after.Format ||
		compact(before.Default) != compact(after.Default) || preserves(before) != preserves(after) || listTypeOf(before) != listTypeOf(after) {
		return false
	}
	for name := range before.Properties {
		if _, ok := after.Properties[name]; !ok {
			return false
		}
	}
	for name, a := range after.Properties {
		b, ok := before.Properties[name]
		if !ok && a.Default != nil || ok && !sameValues(&b, &a) {
			return false
		}
	}
	if before.Items != nil && after.Items != nil && before.Items.Schema != nil && after.Items.Schema != nil {
		return sameValues(before.Items.Schema, after.Items.Schema)
	}
	b, a := valuesOf(before), valuesOf(after)
	if b != nil && a != nil {
		return sameValues(b, a)
	}
	return (b == nil) == (a == nil)
}
