package prove

import (
	"maps"
	"math"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/internal/regexp/automaton"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

const maxInt = math.MaxInt64

func (w *formula) bound(p *place) {
	if p.schema == nil || p.schema.ValueValidation == nil {
		return
	}
	w.implies(p.satisfies(p.schema.ValueValidation), p.present, w.schemaOf(p))
}

// satisfies returns a literal that holds if the value of p, if any, satisfies v. Validations that
// are not modeled become free literals.
func (p *place) satisfies(v *schema.ValueValidation) sat.Lit {
	g := &p.formula.gates
	holds := []sat.Lit{p.enum(v.Enum)}
	switch p.decl.Kind {
	case types.Int, types.Double:
		holds = append(holds, p.between(v))
	case types.String:
		holds = append(holds, p.size(v.MinLength, v.MaxLength), p.pattern(v.Pattern))
	case types.List:
		holds = append(holds, p.size(v.MinItems, v.MaxItems))
		if v.UniqueItems {
			holds = append(holds, g.free())
		}
	case types.Map:
		holds = append(holds, p.size(v.MinProperties, v.MaxProperties))
	default:
		holds = append(holds, g.free())
	}
	if v.Format != "" { // applies to a value of any type, since a format can occur without a type
		holds = append(holds, g.free())
	}
	for _, name := range v.Required {
		holds = append(holds, p.requires(name))
	}
	for i := range v.AllOf {
		holds = append(holds, p.nested(&v.AllOf[i]))
	}
	if len(v.AnyOf) > 0 {
		holds = append(holds, g.any(p.eachNested(v.AnyOf)...))
	}
	if len(v.OneOf) > 0 {
		holds = append(holds, exactlyOne(g, p.eachNested(v.OneOf)))
	}
	if v.Not != nil {
		holds = append(holds, p.nested(v.Not).Not())
	}
	return g.all(holds...)
}

func exactlyOne(g *gates, lits []sat.Lit) sat.Lit {
	none, one := g.yes, g.no()
	for _, l := range lits {
		none, one = g.both(none, l.Not()), g.either(l, none, one)
	}
	return one
}

func (p *place) eachNested(all []schema.NestedValueValidation) []sat.Lit {
	lits := make([]sat.Lit, len(all))
	for i := range all {
		lits[i] = p.nested(&all[i])
	}
	return lits
}

func (p *place) nested(v *schema.NestedValueValidation) sat.Lit {
	g := &p.formula.gates
	holds := []sat.Lit{p.satisfies(&v.ValueValidation)}
	for _, name := range sortedKeys(v.Properties) {
		prop := v.Properties[name]
		f := p.decl.Fields[name]
		if f == nil || p.formula.tooLarge {
			holds = append(holds, g.free())
			continue
		}
		q := p.field(f)
		absent := q.present.Not()
		if nullable(f, q) {
			absent = g.both(absent, g.free()) // rules see null as absent, but the schema validates it
		}
		holds = append(holds, g.any(absent, q.nested(&prop)))
	}
	if v.Items != nil || v.AdditionalProperties != nil || !plainGeneric(v) {
		holds = append(holds, g.free())
	}
	return g.all(holds...)
}

// plainGeneric reports whether v sets no type, nullable, or default. The schemas below int-or-string set a type.
func plainGeneric(v *schema.NestedValueValidation) bool {
	g := v.ForbiddenGenerics
	return g.Type == "" && !g.Nullable && g.Default.Object == nil
}

func nullable(f *types.Field, q *place) bool {
	return f.Decl.Nullable || q.schema != nil && q.schema.Nullable
}

// requires returns a literal that holds if a field is present, with null or another value. It is free
// if rules cannot see the field.
func (p *place) requires(name string) sat.Lit {
	g := &p.formula.gates
	f := p.decl.Fields[name]
	if f == nil || p.formula.tooLarge {
		return g.free()
	}
	q := p.field(f)
	if nullable(f, q) {
		return g.any(q.present, g.free())
	}
	return q.present
}

func (p *place) enum(values []schema.JSON) sat.Lit {
	g := &p.formula.gates
	if len(values) == 0 {
		return g.yes
	}
	var some []sat.Lit
	for i, v := range values {
		if i%8 == 7 && p.formula.spend(1) {
			return g.free()
		}
		some = append(some, p.equals(v.Object))
	}
	return g.any(some...)
}

// equals returns a literal that holds if the value equals v. It is free, which can only lose proofs, unless v is null
// or a string, integer, or bool of the declared type.
func (p *place) equals(v any) sat.Lit {
	g := &p.formula.gates
	switch v := v.(type) {
	case string:
		if p.decl.Kind == types.String {
			if l, ok := p.is(v); ok {
				return l
			}
		}
	case int64:
		if p.decl.Kind == types.Int {
			return p.numbers.equal(v)
		}
	case bool:
		if p.decl.Kind == types.Bool {
			return literal(p.flag, v)
		}
	case nil:
		return g.no() // a present value is never null
	}
	return g.free()
}

func (p *place) size(minimum, maximum *int64) sat.Lit {
	g := &p.formula.gates
	holds := g.yes
	if minimum != nil {
		holds = g.both(holds, p.sizes.less(cut{i: *minimum}).Not())
	}
	if maximum != nil && *maximum < maxInt {
		holds = g.both(holds, p.sizes.less(cut{i: *maximum + 1}))
	}
	return holds
}

func (p *place) pattern(pattern string) sat.Lit {
	if pattern == "" {
		return p.formula.yes
	}
	if l, ok := p.in("m~"+pattern, func() (*automaton.Language, error) { return automaton.Compile(pattern) }); ok {
		return l
	}
	return p.formula.free()
}

func (p *place) between(v *schema.ValueValidation) sat.Lit {
	g := &p.formula.gates
	holds := g.yes
	if v.Minimum != nil {
		holds = g.both(holds, p.lessThan(*v.Minimum, v.ExclusiveMinimum).Not())
	}
	if v.Maximum != nil {
		holds = g.both(holds, p.lessThan(*v.Maximum, !v.ExclusiveMaximum))
	}
	if v.MultipleOf != nil {
		holds = g.both(holds, g.free())
	}
	return holds
}

// lessThan returns a literal that holds if the schema validation considers the number less than f,
// or equal to f if closed is set. Integers are compared with the integer part of f, and all other
// numbers with f itself.
func (p *place) lessThan(f float64, closed bool) sat.Lit {
	g := &p.formula.gates
	whole := math.Trunc(f)
	if p.decl.Kind == types.Int {
		if math.Abs(whole) >= 1<<62 { // close to values that int64 cannot represent
			return g.free()
		}
		c := cut{i: int64(whole)}
		if closed {
			c.i++
		}
		return p.numbers.less(c)
	}
	if math.Abs(f) >= 1<<53 { // rules see the nearest floats of integers
		return g.free()
	}
	less := p.numbers.less(cut{f: f, closed: closed})
	if whole == f {
		return less
	}
	at := g.both(p.numbers.less(cut{f: whole}).Not(), p.numbers.less(cut{f: whole, closed: true}))
	return g.either(at, g.free(), less)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
