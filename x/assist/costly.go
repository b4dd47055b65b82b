package assist

import (
	"fmt"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
)

// costly returns the problem of an expression whose estimate exceeds the limit, or nil. Each fix
// sets a single bound if that suffices; otherwise, one fix sets several bounds to the same value.
// For a whole CRD, engine/vet finds better bounds.
func (p *Context) costly(x *expr.Expr) *Problem {
	price := p.Price(x)
	if price.Total <= price.Limit || p.Part == AnyExpression {
		return nil
	}
	out := &Problem{Kind: Costly, Advice: Advice{Code: OverLimit}, End: len([]rune(x.Source()))}
	out.Message = fmt.Sprintf("estimate %s, %s of the limit", phrase.Number(price.Total), phrase.Share(price.Total, price.Limit))
	t := p.newTrial(x)
	var together *Fix
	for _, missing := range []bool{true, false} {
		var list []*size
		for _, s := range t.sizes {
			if s.Now == 0 || !missing {
				list = append(list, s)
			}
		}
		for _, s := range list {
			if s.Now == 0 == missing {
				if m := t.largest([]*size{s}, price.Limit); m != nil {
					out.Fixes = append(out.Fixes, *m)
				}
			}
		}
		if together == nil {
			together = t.largest(list, price.Limit)
		}
	}
	out.Fixes = out.Fixes[:min(len(out.Fixes), maxFixes-1)]
	if together != nil && len(together.Bounds) > 1 {
		out.Fixes = append(out.Fixes, *together)
	}
	if len(out.Fixes) == 0 {
		out.Words = "no bounds make it fit: rewrite it"
	}
	return out
}

// size is a bound that the price of an expression depends on.
type size struct {
	Bound
	// key is the path below self in the form that estimates use. factor is the index among the
	// lists and maps around the schema node, or -1.
	key    string
	factor int
	// bytes is the size that the estimate assigns to a unit of the bound: 4 for a character, else
	// 1.
	bytes int64
}

// trial computes the price of an expression under different bounds.
type trial struct {
	context *Context
	x       *expr.Expr
	sizes   []*size
}

func (p *Context) newTrial(x *expr.Expr) *trial {
	t := &trial{context: p, x: x}
	if p.Part != MessageExpression {
		for i, f := range p.around.cardinality.Factors {
			s := &size{Bound: Bound{Path: f.Path, Set: f.Word()}, factor: i, bytes: 1}
			if f.Bounded {
				s.Now = int64(f.Max)
			}
			t.sizes = append(t.sizes, s)
		}
	}
	known := map[string]bool{}
	t.estimate(&celcost.Assumption{OnSize: func(path []string, d *types.Decl) {
		word, key := BoundName(d), celcost.Path(path)
		if known[key] || word == "" || d.Max.Source != types.Assumed && d.Max.Source != types.Declared {
			return
		}
		known[key] = true
		s := &size{Bound: Bound{Path: p.pathBelow(path), Set: word}, key: key, factor: -1, bytes: 1}
		if d.Kind == types.String || d.Kind == types.IntOrString {
			s.bytes = 4
		}
		if d.Max.Source == types.Declared {
			s.Now = d.Max.Max / s.bytes
		}
		t.sizes = append(t.sizes, s)
	}})
	return t
}

// pathBelow converts a path in the checker's notation to a path from the root of the object.
func (p *Context) pathBelow(path []string) string {
	steps := append([]engine.Step(nil), p.steps()...)
	d := p.Node.Decl
	for _, name := range path {
		step := engine.Step{Any: true}
		if f, ok := d.ByIdent(name); ok && name[0] != '@' {
			step = engine.Step{Name: f.Name}
			d = f.Decl
		} else if d.Elem != nil {
			d = d.Elem
		}
		steps = append(steps, step)
	}
	return engine.FormatPath(steps)
}

func (t *trial) estimate(a *celcost.Assumption) uint64 {
	return t.context.model().If(t.x.AST(), t.context.Node.Decl, a).Max
}

// price returns the price of the expression if the bounds in list are set to value.
func (t *trial) price(list []*size, value int64) uint64 {
	a := &celcost.Assumption{Sizes: map[string]int64{}}
	around := cost.Cardinality{}
	limits := map[int]int64{}
	for _, s := range list {
		if v := s.of(value); s.factor >= 0 {
			limits[s.factor] = v
		} else {
			a.Sizes[s.key] = v * s.bytes
		}
	}
	for i, f := range t.context.around.cardinality.Factors {
		limit, ok := limits[i]
		if !ok && f.Bounded {
			limit, ok = int64(f.Max), true
		}
		next := &limit
		if !ok {
			next = nil
		}
		if f.Map {
			around = around.Map(f.Path, next)
		} else {
			around = around.List(f.Path, next)
		}
	}
	total := t.estimate(a)
	if t.context.Part == MessageExpression {
		return total
	}
	return cost.Mul(total, around.Times(t.context.Node.Decl))
}

// of returns the bound to set for value. It never raises an existing bound.
func (s *size) of(value int64) int64 {
	if s.Now > 0 {
		return min(value, s.Now)
	}
	return value
}

// maxTriedBound is the largest bound that is tried.
const maxTriedBound = 1 << 20

// largest returns the fix that sets the bounds in list to the largest power of two that keeps the
// price within limit, or nil if no bound does.
func (t *trial) largest(list []*size, limit uint64) *Fix {
	if len(list) == 0 {
		return nil
	}
	for value := int64(maxTriedBound); value > 0; value /= 2 {
		if t.price(list, value) > limit {
			continue
		}
		m := &Fix{}
		for _, s := range list {
			b := s.Bound
			if b.Value = s.of(value); b.Value == b.Now {
				continue
			}
			m.Bounds = append(m.Bounds, b)
			if len(m.Bounds) == 1 {
				m.Title = fmt.Sprintf("set %s: %d at %s", b.Set, b.Value, phrase.Path(b.Path))
			}
		}
		if len(m.Bounds) > 1 {
			m.Title += fmt.Sprintf(" and %s more", phrase.Count(len(m.Bounds)-1, "bound"))
		}
		if len(m.Bounds) == 0 {
			return nil
		}
		return m
	}
	return nil
}
