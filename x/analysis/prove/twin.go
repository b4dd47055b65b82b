package prove

// How it works. If one version accepts an object and the next version reads it, each value exists
// in both. The written values are the same, but the values that rules read can differ if the
// versions have different defaults, fields, or types. So a value of the next version has a twin in
// the first version, and a literal that holds if both have the written value. If that always holds,
// the twins share their content. If, in addition, both versions read everything below alike, they
// are the same, so the same expression over it has the same literal in both versions.

import (
	"reflect"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

type twin struct {
	*place
	same sat.Lit // both have the written value
}

// pairedPlace adds q to the formula, with a twin if its parent has a twin and the first version has a
// matching counterpart. If both versions read q alike, it returns the counterpart itself.
func (w *formula) pairedPlace(q *place, counterpart func(*place) *place) *place {
	above := q.parent.twin
	if above == nil {
		return w.newPlace(*q)
	}
	first := counterpart(above.place)
	switch {
	case first == nil:
		return w.unknownToFirst(q, above)
	case !shaped(first, q) || !sameEntries(first.schema, q.schema):
		return w.newPlace(*q)
	case above.same == w.yes && sameDefault(first.schema, q.schema):
		if alike(first.schema, q.schema) {
			return first
		}
		q.content, q.twin = first.content, &twin{first, w.yes}
		return w.newPlace(*q)
	}
	made := w.newPlace(*q)
	made.twin = &twin{first, w.shown(first, made, above.same)}
	return made
}

// unknownToFirst returns a field that objects of the first version do not have, unless that version
// preserves unknown fields.
func (w *formula) unknownToFirst(q *place, above *twin) *place {
	made := w.newPlace(*q)
	if above.schema == nil || above.schema.XPreserveUnknownFields || above.decl.Kind != types.Object {
		return made
	}
	if d := defaultOf(q.schema); d == nil {
		w.implies(made.present.Not(), above.same)
	} else {
		w.implies(made.equals(d), above.same, made.present)
	}
	return made
}

// shown returns a literal that holds if both first and next have the written value, given a literal
// for their parents.
func (w *formula) shown(first, next *place, above sat.Lit) sat.Lit {
	a, b := defaultOf(first.schema), defaultOf(next.schema)
	switch {
	case sameDefault(first.schema, next.schema):
		w.implies(first.present, above, next.present)
		w.implies(next.present, above, first.present)
		return w.both(above, next.present)
	case a == nil:
		w.implies(next.present, above, first.present)
		w.implies(next.equals(b), above, next.present, first.present.Not())
		return w.both(above, first.present)
	case b == nil:
		w.implies(first.present, above, next.present)
		w.implies(first.equals(a), above, first.present, next.present.Not())
		return w.both(above, next.present)
	}
	written := w.all(above, first.present, next.present, w.free())
	w.implies(first.equals(a), above, first.present, written.Not())
	w.implies(next.equals(b), above, next.present, written.Not())
	return written
}

// mirror makes twins with separate contents equal if both have the written value.
func (w *formula) mirror(p *place) {
	if p.twin != nil && p.content != p.twin.content {
		w.agree(p.twin.content, p.content, p.twin.same)
	}
}

// shaped reports whether first and next have the same type. An apiVersion that differs between the
// versions does not count as the same.
func shaped(first, next *place) bool {
	if first.decl.Kind != next.decl.Kind || (first.schema == nil) != (next.schema == nil) {
		return false
	}
	if len(next.path) == 1 && next.path[0].Name == "apiVersion" && first.of.version != next.of.version {
		return false
	}
	return next.schema == nil || first.schema.XEmbeddedResource == next.schema.XEmbeddedResource && first.schema.Type == next.schema.Type
}

func defaultOf(s *schema.Structural) any {
	if s == nil {
		return nil
	}
	return s.Default.Object
}

// sameDefault reports whether both versions default absent and null values alike.
func sameDefault(a, b *schema.Structural) bool {
	x, y := defaultOf(a), defaultOf(b)
	return x == nil && y == nil || a != nil && b != nil && a.Nullable == b.Nullable && reflect.DeepEqual(x, y)
}

// sameEntries reports whether a map has the same entries in both versions. One version may keep a
// null entry that the other drops or replaces by a default.
func sameEntries(a, b *schema.Structural) bool {
	x, y := elementOf(a), elementOf(b)
	return x == nil || y == nil || x.Nullable == y.Nullable && reflect.DeepEqual(x.Default, y.Default)
}

// sameItems reports whether both versions correlate an item with the same old item.
func sameItems(a, b *schema.Structural) bool {
	return a == b || a != nil && b != nil && reflect.DeepEqual(a.XListType, b.XListType) && reflect.DeepEqual(a.XListMapKeys, b.XListMapKeys)
}

// alike reports whether rules see the same values at a schema node and below it in both versions.
func alike(a, b *schema.Structural) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	if a.Type != b.Type || a.Nullable != b.Nullable || !reflect.DeepEqual(a.Default, b.Default) ||
		!reflect.DeepEqual(a.Extensions, b.Extensions) || formatOf(a) != formatOf(b) ||
		len(a.Properties) != len(b.Properties) || !alike(a.Items, b.Items) {
		return false
	}
	for name, x := range a.Properties {
		if y, ok := b.Properties[name]; !ok || !alike(&x, &y) {
			return false
		}
	}
	if x, y := a.AdditionalProperties, b.AdditionalProperties; x != nil && y != nil {
		return x.Bool == y.Bool && alike(x.Structural, y.Structural)
	}
	return (a.AdditionalProperties == nil) == (b.AdditionalProperties == nil)
}

func formatOf(s *schema.Structural) string {
	if s.ValueValidation == nil {
		return ""
	}
	return s.ValueValidation.Format
}

// anchor returns the item, entry, or root at steps, or nil if rules cannot see it. It has a twin only
// if all types, defaults, and list types on the path are the same in both versions.
func (w *formula) anchor(of *Prover, steps []engine.Step) *place {
	first, next := w.prover.root(), of.root()
	related := true
	for _, step := range steps {
		if next = next.below(step); next.decl == nil {
			return nil
		}
		if first = first.below(step); related {
			related = first.decl != nil && first.decl.Kind == next.decl.Kind && sameDefault(first.schema, next.schema) && sameItems(first.schema, next.schema) && sameEntries(first.schema, next.schema)
		}
	}
	p := place{of: of, path: steps, schema: next.schema, decl: next.decl}
	if of != w.prover {
		if related {
			like := w.newPlace(place{of: w.prover, path: steps, schema: first.schema, decl: first.decl})
			p.content, p.twin = like.content, &twin{like, w.yes}
		}
	}
	return w.newPlace(p)
}

type node struct {
	schema *schema.Structural
	decl   *types.Decl
}

func (p *Prover) root() node { return node{p.schema, p.decl} }

func (n node) below(step engine.Step) node {
	switch {
	case n.decl == nil:
		return node{}
	case step.Any:
		return node{elementOf(n.schema), n.decl.Elem}
	}
	if f := n.decl.Fields[step.Name]; f != nil {
		return node{propertyOf(n.schema, step.Name), f.Decl}
	}
	return node{}
}
