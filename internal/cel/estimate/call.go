package estimate

import (
	"math"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
)

type operands struct {
	function string
	target   *priced // nil if the call is not a member call
	args     []priced
	sum      checker.CostEstimate // of args
}

func (w *walk) call(e ast.Expr) priced {
	call := e.AsCall()
	var few [3]priced
	with := operands{function: call.FunctionName(), args: few[:0]}
	for _, arg := range call.Args() {
		of := w.expr(arg)
		with.args, with.sum = append(with.args, of), with.sum.Add(of.cost)
	}
	if with.function == overloads.TypeConvertDyn {
		of := with.args[0]
		x := priced{cost: of.cost.Add(checker.FixedCostEstimate(1)), size: of.size, entries: of.entries}
		w.measure(&x, e)
		return x
	}
	x := priced{cost: checker.CostEstimate{Min: math.MaxUint64}}
	if call.IsMemberFunction() {
		of := w.expr(call.Target())
		with.target = &of
	}
	ids := w.checked.GetOverloadIDs(e.ID())
	for _, id := range ids {
		if w.unknown || !w.overload(&x, id, &with, len(ids)) {
			return w.stop()
		}
		w.measure(&x, e)
	}
	if len(ids) == 0 {
		return w.stop()
	}
	if with.target != nil {
		x.cost = x.cost.Add(with.target.cost)
	}
	return x
}

// overload adds the estimate of overload id to x, where of is the number of overloads of the call.
// It reports whether the overload is supported.
func (w *walk) overload(x *priced, id string, with *operands, of int) bool {
	step := ""
	switch id {
	case overloads.IndexList:
		step = "@items"
	case overloads.IndexMap:
		step = "@values"
	}
	if step != "" {
		list := with.args[0]
		if of > 1 || list.at.overwritten() {
			return false
		}
		x.at, x.size = list.at.step(w.root, step), size{list.entries.of, list.entries.known}
	}
	var one priced
	switch {
	case w.known.standard[id] && !with.ofLibrary():
		one = with.price(id)
	case w.known.standard[id], w.known.libraries[id]:
		one = with.library(id)
	default:
		return false
	}
	x.cost = x.cost.Union(one.cost)
	if one.entries.known {
		x.entries = one.entries
	}
	switch {
	case !one.size.known:
	case x.size.known:
		x.size.SizeEstimate = x.size.Union(one.size.SizeEstimate)
	default:
		x.size = one.size
	}
	return true
}

func perRune(s checker.SizeEstimate) checker.CostEstimate {
	return s.MultiplyByCostFactor(common.StringTraversalCostFactor)
}

func (o *operands) size(i int) checker.SizeEstimate { return o.args[i].size.orAny() }

// price returns the cost of an overload including its arguments, and the size of the result if it
// follows from the arguments.
func (o *operands) price(id string) (x priced) {
	x.cost = checker.FixedCostEstimate(1)
	switch id {
	case overloads.LogicalAnd, overloads.LogicalOr: // the left operand may be sufficient
		x.cost = checker.CostEstimate{Min: o.args[0].cost.Min, Max: o.sum.Max}
		return x
	case overloads.Conditional:
		yes, no := &o.args[1], &o.args[2]
		x.cost = o.args[0].cost.Add(yes.cost.Union(no.cost))
		x.size, x.entries = size{o.size(1).Union(o.size(2)), true}, yes.entries.union(no.entries)
		return x
	case overloads.InList:
		x.cost = o.size(1).AsCost()
	case overloads.StartsWithString, overloads.EndsWithString:
		x.cost = perRune(o.size(0))
	case overloads.ContainsString:
		x.cost = perRune(o.target.size.orAny()).Multiply(perRune(o.size(0)))
	case overloads.Matches:
		x.cost = matching(o.size(0), o.size(1))
	case overloads.MatchesString:
		x.cost = matching(o.target.size.orAny(), o.size(0))
	case overloads.AddString, overloads.AddBytes:
		x.size = size{o.size(0).Add(o.size(1)), true}
		x.cost = perRune(x.size.SizeEstimate)
	case overloads.AddList:
		x.size, x.entries = size{o.size(0).Add(o.size(1)), true}, o.args[0].entries.union(o.args[1].entries)
	case overloads.StringToBytes:
		s := o.size(0)
		x.cost, x.size = perRune(s), size{checker.SizeEstimate{Min: s.Min, Max: s.Max * 4}, true}
	case overloads.BytesToString:
		s := o.size(0)
		x.cost, x.size = perRune(s), size{checker.SizeEstimate{Min: s.Min / 4, Max: s.Max}, true}
	case overloads.Equals, overloads.NotEquals,
		overloads.LessString, overloads.LessEqualsString, overloads.GreaterString, overloads.GreaterEqualsString,
		overloads.LessBytes, overloads.LessEqualsBytes, overloads.GreaterBytes, overloads.GreaterEqualsBytes:
		smaller := min(o.size(0).Max, o.size(1).Max)
		x.cost = perRune(checker.SizeEstimate{Min: min(smaller, 1), Max: smaller})
	}
	x.cost = x.cost.Add(o.sum)
	return x
}

// matching returns the cost of a regular expression match. An empty text has a cost, too.
func matching(text, pattern checker.SizeEstimate) checker.CostEstimate {
	return perRune(text.Add(checker.FixedSizeEstimate(1))).Multiply(pattern.MultiplyByCostFactor(common.RegexStringLengthCostFactor))
}
