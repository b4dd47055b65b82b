package prove

import (
	"fmt"
	"slices"
	"strconv"

	celtypes "github.com/google/cel-go/common/types"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

// place is a position in the object that can hold a value, such as a field, an item of a list, or an
// entry of a map.
type place struct {
	*content
	formula *formula
	of      *Prover // the version that reads the object
	key     string  // unique in the formula: "@7"
	path    []engine.Step
	parent  *place
	schema  *schema.Structural // nil if the CRD has no schema for it
	decl    *types.Decl
	below   map[string]*place

	twin  *twin // the counterpart in the first version, if this is a value of a second version
	index *alt
	// element is set if this is an index or key. It is the item or entry at that index.
	element *place
	id      string // unique among its siblings
}

const maxPlaces = 3000

func (w *formula) newPlace(p place) *place {
	if p.content == nil {
		p.content = w.newContent(p.decl.Kind)
	}
	p.formula, p.below = w, map[string]*place{}
	w.placeCount++
	w.meter.Spend(perStep)
	p.key = "@" + strconv.Itoa(w.placeCount)
	if p.parent != nil {
		w.implies(p.parent.present, p.present)
	}
	if len(w.places) >= maxPlaces {
		w.tooLarge = true
		return &p // not constrained any further
	}
	w.places = append(w.places, &p)
	return &p
}

func (p *place) field(f *types.Field) *place {
	if q := p.below[f.Name]; q != nil {
		return q
	}
	q := place{
		of: p.of, parent: p, decl: f.Decl, schema: propertyOf(p.schema, f.Name),
		path: pathBelow(p.path, engine.Step{Name: f.Name}),
	}
	made := p.formula.pairedPlace(&q, func(like *place) *place {
		if g := like.decl.Fields[f.Name]; g != nil {
			return like.field(g)
		}
		return nil
	})
	p.below[f.Name] = made
	if p.hasAlways(f, q.schema) {
		p.formula.implies(made.present, p.present, p.formula.schemaOf(p))
	}
	return made
}

func propertyOf(s *schema.Structural, name string) *schema.Structural {
	if s != nil {
		if prop, ok := s.Properties[name]; ok {
			return &prop
		}
	}
	return nil
}

func pathBelow(path []engine.Step, step engine.Step) []engine.Step {
	return append(slices.Clip(slices.Clone(path)), step)
}

// hasAlways reports whether a field is certainly present if p is.
func (p *place) hasAlways(f *types.Field, s *schema.Structural) bool {
	if len(p.path) == 0 && p.decl.Root && (f.Name == "apiVersion" || f.Name == "kind" || f.Name == "metadata") {
		return true
	}
	if len(p.path) == 1 && p.parent != nil && p.parent.decl.Root && p.path[0].Name == "metadata" && f.Name == "name" {
		return true
	}
	if s == nil || s.Nullable || f.Decl.Nullable {
		return false
	}
	if s.Default.Object != nil {
		return true
	}
	v := p.schema.ValueValidation
	return v != nil && slices.Contains(v.Required, f.Name)
}

func (p *place) entry(name string) *place {
	return p.one("entry "+strconv.Quote(name), &alt{when: p.formula.yes, constant: celtypes.String(name)})
}

func (p *place) item(index int64) *place {
	id := fmt.Sprintf("item %d", index)
	if q := p.below[id]; q != nil {
		return q
	}
	q := p.one(id, &alt{when: p.formula.yes, constant: celtypes.Int(index)})
	there := p.sizes.less(cut{i: index + 1}).Not()
	p.formula.implies(there, q.present)
	if !p.decl.Elem.Nullable {
		p.formula.implies(q.present, p.present, there)
	}
	return q
}

// some returns an unspecified item or entry, which id distinguishes from others.
func (p *place) some(id string) *place {
	q := p.one(id, nil)
	p.formula.implies(q.present, p.present, p.sizes.less(cut{i: 1}).Not())
	return q
}

// one returns the item or entry at an index. A nil index is unknown.
func (p *place) one(id string, index *alt) *place {
	if q := p.below[id]; q != nil {
		return q
	}
	q := place{
		of: p.of, parent: p, id: id, decl: p.decl.Elem, schema: elementOf(p.schema),
		path: pathBelow(p.path, engine.Step{Any: true}),
	}
	made := p.formula.pairedPlace(&q, func(like *place) *place {
		if like.decl.Elem == nil {
			return nil
		}
		return like.one(id, index)
	})
	p.below[id] = made
	switch {
	case made.index != nil: // read alike by both versions
	case index != nil:
		made.index = index
	case made.twin != nil:
		made.index = made.twin.index
	default:
		made.index = made.someIndex()
	}
	p.formula.implies(p.sizes.less(cut{i: 1}).Not(), made.present)
	return made
}

func (p *place) someIndex() *alt {
	d := &types.Decl{Kind: types.Int}
	if p.parent.decl.Kind == types.Map {
		d = &types.Decl{Kind: types.String}
	}
	at := p.formula.newPlace(place{of: p.of, path: p.path, decl: d, element: p})
	p.formula.clause(at.present)
	if d.Kind == types.Int {
		p.formula.clause(at.numbers.less(cut{i: 0}).Not())
	}
	return &alt{when: p.formula.yes, place: at}
}

// name relates entries with unknown keys to the entries with known keys: equal keys mean the same
// entry.
func (p *place) name() {
	if p.decl.Kind != types.Map {
		return
	}
	var named, others []*place
	for _, id := range sortedKeys(p.below) {
		switch one := p.below[id]; {
		case one.index == nil:
		case one.index.constant != nil:
			named = append(named, one)
		case one.index.place != nil:
			others = append(others, one)
		}
	}
	for _, one := range named {
		text := string(one.index.constant.(celtypes.String))
		for _, some := range others {
			if p.formula.spend(1) {
				return
			}
			if l, ok := some.index.place.is(text); ok {
				p.formula.implies(one.present, some.present, l)
			}
		}
	}
}

// at returns the element of p at the given index or key, or nil if the index belongs to another
// list or map.
func (p *place) at(index *place) *place {
	if e := index.element; e != nil && (e.parent == p || p.twin != nil && e.parent == p.twin.place) {
		return p.below[e.id]
	}
	return nil
}

func elementOf(s *schema.Structural) *schema.Structural {
	switch {
	case s == nil:
	case s.Items != nil:
		return s.Items
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Structural
	}
	return nil
}
