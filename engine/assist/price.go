package assist

import (
	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/expr"
	"github.com/celadon-cel/celadon/types"
)

// Price is what the API server estimates that an expression costs, in CEL cost
// units.
type Price struct {
	// Estimate is of one evaluation, Times how often it may run for one object.
	Estimate cost.Estimate
	Times    uint64
	// Total is held against Limit: of a messageExpression one evaluation, else all.
	Total, Limit uint64
}

// Price prices an expression that was compiled at the place.
func (p *Place) Price(x *expr.Expr) Price {
	out := Price{Estimate: x.Estimate(), Times: p.around.times(p.Node.Decl()), Limit: uint64(p.Limits.WithDefaults().EstimatedPerRule)}
	out.Total = out.Estimate.Max
	if p.Part != MessageExpression {
		out.Total = cost.Mul(out.Total, out.Times)
	}
	return out
}

// around is what stands around a place of a schema.
type around struct {
	steps       []engine.Step
	cardinality cost.Cardinality
}

func newAround(root *types.Decl, steps []engine.Step) around {
	a := around{steps: make([]engine.Step, len(steps))}
	d := root
	for i, step := range steps {
		a.steps[i] = step
		if f := d.Fields[step.Name]; f != nil && !step.Item && !step.Any {
			d = f.Decl
			continue
		}
		a.steps[i] = engine.Step{Any: true}
		path := engine.FormatPath(a.steps[:i])
		var limit *int64
		if d.Max.Source == types.Declared {
			limit = &d.Max.Max
		}
		if d.Kind == types.Map {
			a.cardinality = a.cardinality.Map(path, limit)
		} else {
			a.cardinality = a.cardinality.List(path, limit)
		}
		d = d.Elem
	}
	return a
}

func (a *around) times(d *types.Decl) uint64 { return a.cardinality.Times(d) }
