package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

type props = apiextensionsv1.JSONSchemaProps

// walker goes down the schemas of two versions side by side.
type walker struct {
	*comparison
	before, after *side
}

// place is one place in both schemas: in objects, and in either CRD.
type place struct {
	steps              []engine.Step
	oldField, newField string
}

func (p place) field(name string) place {
	below := "." + "properties[" + name + "]"
	return place{append(slices.Clip(p.steps), engine.Step{Name: name}), p.oldField + below, p.newField + below}
}

func (p place) any(below string) place {
	return place{append(slices.Clip(p.steps), engine.Step{Any: true}), p.oldField + below, p.newField + below}
}

// last is the name of the field that the place is.
func (p place) last() string { return p.steps[len(p.steps)-1].Name }

// pair compares one version of the old CRD with one of the new.
func (c *comparison) pair(before, after *side) {
	w := &walker{c, before, after}
	root := place{
		oldField: fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", before.index),
		newField: fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", after.index),
	}
	if o, n := before.schema(), after.schema(); o != nil && n != nil {
		w.node(root, o, n)
	}
}

// add lists a change at a place; key is where in the schema it stands.
func (w *walker) add(at place, key, what, old, new string, breaks, loosens *goal) *change {
	ch := &change{before: w.before, after: w.after, breaks: breaks, loosens: loosens}
	ch.CRDChange = CRDChange{
		Version: w.after.version.Name, OldVersion: w.before.version.Name,
		Path: engine.FormatPath(at.steps), What: what, Old: old, New: new,
		OldField: at.oldField + key, NewField: at.newField + key,
	}
	w.changes = append(w.changes, ch)
	return ch
}

// node compares what stands at one place, and then all below.
func (w *walker) node(at place, o, n *props) {
	if len(at.steps) == 1 && at.last() == "metadata" {
		w.metadata(at, o, n)
		return
	}
	if typeOf(o) != typeOf(n) {
		w.typed(at, o, n)
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

// metadata is the object's own, of which a CRD may bound the name alone.
func (w *walker) metadata(at place, o, n *props) {
	for _, name := range []string{"name", "generateName"} {
		before, after := o.Properties[name], n.Properties[name]
		w.facets(at.field(name), &before, &after)
	}
}

// below compares fields, items and the values of maps.
func (w *walker) below(at place, o, n *props) {
	names := slices.Sorted(maps.Keys(o.Properties))
	for name := range n.Properties {
		if _, ok := o.Properties[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
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

// valuesOf are a map's; nil of what is none.
func valuesOf(s *props) *props {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

func preserves(s *props) bool { return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields }

// removed: what stood there is pruned, or kept and no longer looked at.
func (w *walker) removed(at place, o, parent *props) {
	if preserves(parent) || valuesOf(parent) != nil {
		ch := w.add(at, "", "field", typeOf(o), "", nil, w.present(at, o, samples(o)))
		ch.NewField = upper(ch.NewField)
		if valuesOf(parent) != nil {
			ch.breaks = w.present(at, o, nil)
		}
		return
	}
	ch := w.add(at, "", "field", typeOf(o), "", w.present(at, o, nil), nil)
	ch.NewField = upper(ch.NewField)
}

// added: what was pruned there is kept now, and what was kept is looked at.
func (w *walker) added(at place, parent, n *props) {
	loosens := w.present(at, n, nil)
	var breaks *goal
	if preserves(parent) || valuesOf(parent) != nil {
		breaks = &goal{at: place{steps: at.steps[:len(at.steps)-1]}, rule: "false", under: at.last(), values: samples(n)}
	}
	text := typeOf(n)
	if value := defaultOf(n); value != "" {
		text += ", default " + value
		if breaks == nil {
			breaks = w.filled(at)
		}
	}
	ch := w.add(at, "", "field", "", text, breaks, loosens)
	ch.OldField = upper(ch.OldField)
}

// upper is the field above.
func upper(field string) string {
	if i := strings.LastIndex(field, "."); i >= 0 {
		return field[:i]
	}
	return field
}

// present is the goal of an object that has the place; of values, those are put
// there.
func (w *walker) present(at place, s *props, values []any) *goal {
	return &goal{at: at, rule: "false", of: s, values: values, kept: true}
}

// filled is the goal of an object in which a default stands for a field: it has
// nothing there.
func (w *walker) filled(at place) *goal {
	parent := place{steps: at.steps[:len(at.steps)-1]}
	return &goal{at: parent, rule: "false", under: at.last(), values: []any{absent{}}, kept: true, defaulted: true}
}

// compact is JSON on one line.
func compact(v any) string {
	if v == nil {
		return ""
	}
	data, err := json.Marshal(v)
	if err != nil || string(data) == "null" {
		return ""
	}
	return string(data)
}
