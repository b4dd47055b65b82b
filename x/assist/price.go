package assist

import (
	"fmt"
	"weak"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
)

// Price is the cost of an expression as estimated by the API server, in CEL cost units.
type Price struct {
	// Estimate is for a single evaluation. Times is how often the expression can run for an object.
	Estimate cost.Estimate
	Times    uint64
	// Total is compared with Limit. It covers a single evaluation of a messageExpression, or all
	// evaluations of a rule.
	Total, Limit uint64
}

// Price returns the price of an expression that was compiled at p.
func (p *Context) Price(x *expr.Expr) Price {
	out := Price{Estimate: x.Estimate(), Times: p.around.cardinality.Times(p.Node.Decl), Limit: uint64(p.Limits.WithDefaults().EstimatedPerRule)}
	out.Total = out.Estimate.Max
	if p.Part != MessageExpression {
		out.Total = cost.Mul(out.Total, out.Times)
	}
	return out
}

func (p *Context) costly(x *expr.Expr) *Problem {
	price := p.Price(x)
	if price.Total <= price.Limit || p.Part == AnyExpression {
		return nil
	}
	message := fmt.Sprintf("estimate %s, %s of the limit", phrase.Number(price.Total), phrase.Share(price.Total, price.Limit))
	return &Problem{Kind: Costly, Advice: Advice{Code: OverLimit}, End: len([]rune(x.Source())), Message: message}
}

// affordable reports whether the API server accepts the estimates of the CRD's rules with x in place of was. If the
// other rules alone are too expensive, x is not to blame.
func (p *Context) affordable(was string, x *expr.Expr) bool {
	price, limit := p.Price(x), uint64(p.Limits.WithDefaults().EstimatedPerCRD)
	if p.Part == AnyExpression || price.Total > price.Limit || p.engine == nil {
		return p.Part == AnyExpression || price.Total <= price.Limit
	}
	others := uint64(0)
	for _, one := range p.functions().pricesOf(p) {
		if one.path != p.Node.Path || one.text != was {
			others = cost.Add(others, one.total)
		}
	}
	return others > limit || cost.Add(others, price.Total) <= limit
}

// pricesKey identifies a version of a CRD, without keeping the CRD in memory.
type pricesKey struct {
	engine  weak.Pointer[engine.Engine]
	version string
}

type priced struct {
	path, text string
	total      uint64
}

func (k *Functions) pricesOf(p *Context) []priced {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := pricesKey{weak.Make(p.engine), p.Node.Version}
	if k.key == key {
		return k.prices
	}
	k.key, k.prices = key, nil
	at := &Context{}
	for _, ref := range p.engine.Rules(p.Node.Version) {
		if at.Node == nil || at.Node.Path != ref.Path {
			next, err := NewContext(p.engine, p.whole, p.Node.Version, ref.Path)
			if err != nil {
				continue
			}
			next.Limits = p.Limits
			at = next
		}
		if at.Schema == nil || ref.Index >= len(at.Schema.XValidations) {
			continue
		}
		rule := &at.Schema.XValidations[ref.Index]
		for part, text := range map[Part]string{Rule: rule.Rule, MessageExpression: rule.MessageExpression} {
			at.Part, at.OptionalOldSelf = part, rule.OptionalOldSelf != nil && *rule.OptionalOldSelf
			if x, err := at.compile(text); err == nil {
				k.prices = append(k.prices, priced{ref.Path, text, at.Price(x).Total})
			}
		}
	}
	return k.prices
}

type around struct {
	steps       []engine.Step // from the root, with wildcards for indexes and keys
	cardinality cost.Cardinality
	sized       []sized // the lists and maps among the ancestors
}

// sized is a list or map, with its path as the caller of NewContext wrote it.
type sized struct {
	text string
	decl *types.Decl
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
		a.sized = append(a.sized, sized{engine.FormatPath(steps[:i]), d})
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

// Unbounded is a value without a bound on which the price of an expression depends. Set is the
// keyword that would bound it, and Assumed the size that estimates assume instead, such as "3,145,728
// bytes".
type Unbounded struct{ Text, Set, Assumed string }

// Unbounded returns the unbounded lists and maps around p, followed by the unbounded values that x
// reads.
func (p *Context) Unbounded(x *expr.Expr) (all []Unbounded) {
	seen := map[string]bool{}
	addLine := func(text string, d *types.Decl) {
		if name := BoundName(d); d.Max.Source == types.Assumed && name != "" && !seen[text] {
			seen[text] = true
			all = append(all, Unbounded{text, name, sizeText(d)})
		}
	}
	for _, s := range p.around.sized {
		addLine(s.text, s.decl)
	}
	src := lex.NewSource(x.Source(), x.AST())
	r := resolver{context: p, vars: map[string]referent{}}
	ast.PreOrderVisit(x.AST().NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind {
			r.loop(e.AsComprehension())
		} else if f := r.expr(e); f.decl != nil {
			addLine(src.Of(e), f.decl)
		}
	}))
	return all
}

func sizeText(d *types.Decl) string {
	switch d.Kind {
	case types.List:
		return phrase.Number(uint64(d.Max.Max)) + " items"
	case types.Map:
		return phrase.Number(uint64(d.Max.Max)) + " entries"
	}
	return phrase.Number(uint64(d.Max.Max)) + " bytes"
}
