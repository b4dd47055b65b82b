package estimate

import (
	"math"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"
)

type operands struct {
	walk     *walk
	call     ast.CallExpr
	overload string
	target   *operand // nil if the call is not a member call
	args     []operand
	sum      checker.CostEstimate // of args
}

type operand struct {
	priced
	expr ast.Expr
}

func (o *operands) typeOf(x *operand) *celtypes.Type { return o.walk.checked.GetType(x.expr.ID()) }

func (w *walk) call(e ast.Expr) priced {
	call := e.AsCall()
	if w.has[entrySizes] && call.FunctionName() == overloads.TypeConvertDyn {
		x := w.measured(call.Args()[0])
		x.cost, x.at = x.cost.Add(checker.FixedCostEstimate(1)), destination{}
		return x
	}
	var few [3]operand
	o := operands{walk: w, call: call, args: few[:0]}
	for _, arg := range call.Args() {
		of := w.operand(arg)
		o.args, o.sum = append(o.args, of), o.sum.Add(of.cost)
	}
	ids := w.checked.GetOverloadIDs(e.ID())
	if len(ids) == 0 && w.has[nestedSizes] {
		return priced{cost: o.sum.Add(checker.FixedCostEstimate(1))}
	}
	if len(ids) == 0 || w.ambiguous || w.has[freeOptionalFields] && call.FunctionName() == operators.OptSelect {
		return priced{}
	}
	var cost checker.CostEstimate
	if call.IsMemberFunction() {
		of := w.operand(call.Target())
		o.target, cost = &of, of.cost
	}
	if w.measuresLate() && !o.measure() {
		return w.stop()
	}
	x := o.price(e, ids)
	x.cost = x.cost.Add(cost)
	return x
}

// measuresLate reports whether operands are measured only after all of them have been estimated.
func (w *walk) measuresLate() bool { return !w.has[entrySizes] || w.has[nestedSizes] }

// Unless operands are measured late, operand measures x before the operands to the right are estimated.
func (w *walk) operand(e ast.Expr) operand {
	x := operand{w.expr(e), e}
	if !w.measuresLate() {
		w.measure(&x.priced, e)
	}
	return x
}

// measure returns false if one operand may have changed the path of another.
func (o *operands) measure() bool {
	alone := len(o.args) == 1 && o.target == nil || len(o.args) == 0
	sure := true
	one := func(x *operand) {
		o.walk.measure(&x.priced, x.expr)
		sure = sure && (alone || o.walk.literalPaths || !x.at.overwritten())
	}
	for i := range o.args {
		one(&o.args[i])
	}
	if o.target != nil {
		one(o.target)
	}
	return sure
}

func (o *operands) price(e ast.Expr, ids []string) priced {
	w := o.walk
	x := priced{cost: checker.CostEstimate{Min: math.MaxUint64}}
	var declared size // once the path of x has been measured
	for _, o.overload = range ids {
		one := o.estimate()
		x.cost = x.cost.Union(one.cost)
		if one.entries.known {
			x.entries = one.entries
		}
		step := stepOf(o.overload)
		if step != "" {
			list := &o.args[0]
			if !w.literalPaths && (len(ids) > 1 || list.at.overwritten()) {
				return w.stop()
			}
			x.at = w.below(list.at, step)
		}
		switch {
		case w.has[nestedSizes]:
			if step != "" {
				one.size = o.args[0].size.entry()
			}
			if !one.size.known {
				one.at = x.at
				w.measure(&one, e)
			}
			x.size = x.size.union(one.size)
			continue
		case step != "" && w.has[entrySizes]:
			x.size = size{SizeEstimate: o.args[0].entries.val, known: o.args[0].entries.known}
		default:
			x.size = x.size.union(one.size)
		}
		if !w.has[entrySizes] || x.size.known {
			continue
		}
		if !declared.known {
			of := priced{at: x.at}
			w.measure(&of, e)
			if x.size = of.size; of.size.ofType {
				continue
			}
			declared = of.size
		}
		x.size = declared
	}
	return x
}

func stepOf(overload string) string {
	switch overload {
	case overloads.IndexList:
		return "@items"
	case overloads.IndexMap:
		return "@values"
	}
	return ""
}

// estimate returns the estimate of one overload: the cost including the arguments, and the size of
// the result if it follows from the arguments.
func (o *operands) estimate() priced {
	for _, price := range [...]price{o.walk.overloads[o.overload], o.walk.functions[o.call.FunctionName()]} {
		if price == nil {
			continue
		}
		if x, ok := price(o); ok {
			x.cost = x.cost.Add(o.sum)
			return x
		}
	}
	return o.standard()
}

func perRune(s checker.SizeEstimate) checker.CostEstimate {
	return s.MultiplyByCostFactor(common.StringTraversalCostFactor)
}

// With nestedSizes, the cost is exact, and unbounded if the size is unbounded.
func (o *operands) perRune(s checker.SizeEstimate) checker.CostEstimate {
	if o.walk.has[nestedSizes] {
		return dividedBy(s, 10)
	}
	return perRune(s)
}

// dividedBy returns s divided by n and rounded up. math.MaxUint64, which means unbounded, stays.
func dividedBy(s checker.SizeEstimate, n uint64) checker.CostEstimate {
	divide := func(m uint64) uint64 {
		if m == math.MaxUint64 {
			return m
		}
		return m/n + min(m%n, 1)
	}
	return checker.CostEstimate{Min: divide(s.Min), Max: divide(s.Max)}
}

func (o *operands) size(i int) checker.SizeEstimate { return o.args[i].size.orAny() }

// standard returns the estimate of a standard function, as functionCost of checker.Cost does.
func (o *operands) standard() (x priced) {
	x.cost = checker.FixedCostEstimate(1)
	switch o.overload {
	case overloads.LogicalAnd, overloads.LogicalOr: // the left operand may be sufficient
		x.cost = checker.CostEstimate{Min: o.args[0].cost.Min, Max: o.sum.Max}
		return x
	case overloads.Conditional:
		yes, no := &o.args[1], &o.args[2]
		x.cost = o.args[0].cost.Add(yes.cost.Union(no.cost))
		x.size, x.entries = o.merged(ranged(o.size(1).Union(o.size(2))), 1, 2), yes.entries.union(no.entries)
		return x
	case overloads.InList:
		x.cost = o.size(1).MultiplyByCostFactor(1)
		if w := o.walk; w.has[overflows] && x.cost.Max == math.MaxUint64 {
			x.cost.Max = 1 << 63 // on amd64
		}
	case overloads.StartsWithString, overloads.EndsWithString:
		x.cost = o.perRune(o.size(0))
	case overloads.ContainsString:
		x.cost = o.perRune(o.target.size.orAny()).Multiply(o.perRune(o.size(0)))
	case overloads.Matches:
		if o.walk.has[globalMatches] {
			x.cost = o.matching(o.size(0), o.size(1))
		}
	case overloads.MatchesString:
		x.cost = o.matching(o.target.size.orAny(), o.size(0))
	case overloads.AddString, overloads.AddBytes:
		x.size, x.entries = ranged(o.size(0).Add(o.size(1))), o.args[0].entries.union(o.args[1].entries)
		x.cost = o.perRune(x.size.SizeEstimate)
	case overloads.AddList:
		x.size, x.entries = o.merged(ranged(o.size(0).Add(o.size(1))), 0, 1), o.args[0].entries.union(o.args[1].entries)
	case overloads.StringToBytes:
		s := o.size(0)
		x.cost, x.size = o.perRune(s), ranged(checker.SizeEstimate{Min: s.Min, Max: s.Max * 4})
		if o.walk.has[nestedSizes] {
			x.size.Max = s.Multiply(checker.FixedSizeEstimate(4)).Max
		}
	case overloads.BytesToString:
		s := o.size(0)
		x.cost, x.size = o.perRune(s), ranged(checker.SizeEstimate{Min: s.Min / 4, Max: s.Max})
		if o.walk.has[nestedSizes] {
			x.size.Min = min(dividedBy(s, 4).Min, s.Max)
		}
	case overloads.ExtQuoteString:
		s := o.size(0)
		x.cost, x.size = o.perRune(s), ranged(checker.SizeEstimate{Min: s.Min + 2, Max: s.Max*2 + 2})
		if o.walk.has[nestedSizes] {
			x.size.Max = s.Add(s).Add(checker.FixedSizeEstimate(2)).Max
		}
	case overloads.ExtFormatString:
		x.cost = o.perRune(o.target.size.orAny())
	case overloads.BoolToString, overloads.IntToString, overloads.UintToString, overloads.DoubleToString, overloads.TimestampToString, overloads.DurationToString:
		if o.walk.shortTexts {
			x.size = ranged(checker.SizeEstimate{Min: 1, Max: maxScalarText})
		}
	case overloads.Equals, overloads.NotEquals,
		overloads.LessString, overloads.LessEqualsString, overloads.GreaterString, overloads.GreaterEqualsString,
		overloads.LessBytes, overloads.LessEqualsBytes, overloads.GreaterBytes, overloads.GreaterEqualsBytes:
		smaller := min(o.size(0).Max, o.size(1).Max)
		x.cost = perRune(checker.SizeEstimate{Min: min(smaller, 1), Max: smaller})
	}
	x.cost = x.cost.Add(o.sum)
	return x
}

// maxScalarText is the maximum length of a scalar that is converted to a string, such as a timestamp with
// nanoseconds.
const maxScalarText = 35

// An empty text has a cost as well.
func matching(text, pattern checker.SizeEstimate) checker.CostEstimate {
	return perRune(text.Add(checker.FixedSizeEstimate(1))).Multiply(pattern.MultiplyByCostFactor(common.RegexStringLengthCostFactor))
}

func (o *operands) matching(text, pattern checker.SizeEstimate) checker.CostEstimate {
	if o.walk.has[nestedSizes] {
		return o.perRune(text.Add(checker.FixedSizeEstimate(1))).Multiply(dividedBy(pattern, 4))
	}
	return matching(text, pattern)
}
