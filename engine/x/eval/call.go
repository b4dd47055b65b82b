package eval

import (
	"fmt"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// How it works: a call is typed where typed.go and its neighbours have code for
// its overload and its arguments are typed. What is left goes to the function
// that the environment binds, in cel-go's own order: by overload, then by name,
// then by the receiver. Which arguments' errors end a call, and whether it is
// priced then, depends in cel-go on how many there are and on how the function
// is bound: listed and lenient tell these apart.
//
// The arguments stand on a stack of the frame, so that a call allocates no
// slice.

// invocation is a call whose arguments are planned.
type invocation struct {
	id       int64
	function string
	overload string   // "" when the arguments decide
	may      []string // the overloads that it can be
	args     []*code
	typ      *celtypes.Type
}

func (p *planner) call(e ast.Expr) (*code, error) {
	call := e.AsCall()
	switch call.FunctionName() {
	case operators.LogicalAnd:
		return p.junction(e, and)
	case operators.LogicalOr:
		return p.junction(e, or)
	case operators.Conditional, operators.Index, operators.OptIndex, operators.OptSelect:
		return p.attributeCode(e)
	}
	inv, err := p.invocation(e)
	if err != nil {
		return nil, err
	}
	return p.invoke(inv)
}

func (p *planner) invocation(e ast.Expr) (*invocation, error) {
	call := e.AsCall()
	r := p.refs[e.ID()]
	if r == nil {
		return nil, errUnsupported
	}
	inv := &invocation{id: e.ID(), function: call.FunctionName(), typ: p.typeOf(e), may: r.OverloadIDs}
	if len(r.OverloadIDs) == 1 {
		inv.overload = r.OverloadIDs[0]
	}
	exprs := call.Args()
	if call.IsMemberFunction() {
		exprs = append([]ast.Expr{call.Target()}, exprs...)
	}
	var err error
	inv.args, err = p.plans(exprs)
	return inv, err
}

// invoke makes typed code where there is such for these arguments.
func (p *planner) invoke(inv *invocation) (*code, error) {
	switch inv.function {
	case operators.Equals, operators.NotEquals:
		return equality(inv), nil
	case "or", "orValue":
		if c := optionalOr(inv); c != nil {
			return c, nil
		}
	case overloads.Matches, "find", "findAll":
		if c, err := p.regexCall(inv); c != nil || err != nil {
			return c, err
		}
	}
	if inv.overload == overloads.InList && inv.args[1].isConst() {
		if c := inConstants(inv); c != nil {
			return c, nil
		}
	}
	folds := overloads.IsTypeConversionFunction(inv.function) && len(inv.args) == 1 && inv.args[0].isConst()
	if !folds {
		if c := typedCall(inv); c != nil {
			return c, nil
		}
	}
	lib, err := p.library(inv)
	if err != nil {
		return nil, err
	}
	if folds {
		v := lib.apply([]ref.Val{inv.args[0].konst})
		if celtypes.IsError(v) {
			return nil, v.(*celtypes.Err)
		}
		return constant(v, inv.typ), nil
	}
	c := lib.code(inv)
	if s := newSplit(inv); s != nil {
		c.split, c.list, c.elem = s, s.list, stringDecl
	}
	return c, nil
}

// junction flattens nested && or ||: errors and costs are the same.
func (p *planner) junction(e ast.Expr, join func([]testFunc) testFunc) (*code, error) {
	terms, err := p.terms(e, e.AsCall().FunctionName(), nil)
	if err != nil {
		return nil, err
	}
	return boolCode(join(terms)), nil
}

func (p *planner) terms(e ast.Expr, function string, terms []testFunc) ([]testFunc, error) {
	for _, arg := range e.AsCall().Args() {
		if arg.Kind() == ast.CallKind && arg.AsCall().FunctionName() == function && p.probes[arg.ID()] == nil && p.recording == nil {
			var err error
			if terms, err = p.terms(arg, function, terms); err != nil {
				return nil, err
			}
			continue
		}
		c, err := p.plan(arg)
		if err != nil {
			return nil, err
		}
		terms = append(terms, c.truth())
	}
	return terms, nil
}

// binding is a function of a library as CEL would dispatch to it.
type binding struct {
	id                 int64
	function, overload string

	unary    functions.UnaryOp
	binary   functions.BinaryOp
	variadic functions.FunctionOp
	trait    int
	lenient  bool // takes errors
	arity    int
	// listed arguments are looked at one by one: the first error ends them.
	listed bool
	exact  bool
	// demands are those of the overloads that the call can be; nil where no
	// work needs to be added.
	demands []demand
}

// library finds what the environment binds to a call, by overload and then by
// function.
func (p *planner) library(inv *invocation) (*binding, error) {
	b := &binding{id: inv.id, function: inv.function, overload: inv.overload, arity: len(inv.args)}
	fn, ok, err := p.function(inv.function)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errUnsupported
	}
	impl := fn.binding(inv)
	b.listed = b.arity == 0 || b.arity > 2
	if impl != nil {
		b.unary, b.binary, b.variadic = impl.Unary, impl.Binary, impl.Function
		b.trait, b.lenient = impl.OperandTrait, impl.NonStrict
		b.listed = b.listed || b.variadic != nil && (b.arity == 1 && b.unary == nil || b.arity == 2 && b.binary == nil)
	}
	bound := b.listed && b.variadic != nil || !b.listed && (b.arity == 1 && b.unary != nil || b.arity == 2 && b.binary != nil)
	if !bound && (impl != nil || b.arity == 0) {
		return nil, errUnsupported // cel-go refuses it too
	}
	switch {
	case inv.function == "format" && b.variadic != nil:
		b.variadic = unnamedFormat(b.variadic)
	case inv.function == "cel.@mapInsert" && b.binary != nil:
		b.binary = unnamedInsert(b.binary)
	}
	b.exact = fn.isExact(inv)
	b.demands = demandsOf(inv)
	return b, nil
}

func (fn *function) binding(inv *invocation) *functions.Overload {
	var byName *functions.Overload
	for _, b := range fn.bindings {
		switch b.Operator {
		case inv.overload:
			return b
		case inv.function:
			byName = b
		}
	}
	return byName
}

// isExact is true when the overload names its result's type, so that no null
// can hide in it.
func (fn *function) isExact(inv *invocation) bool {
	for _, o := range fn.overloads {
		if o.ID() == inv.overload {
			switch o.ResultType().Kind() {
			case celtypes.BoolKind, celtypes.IntKind, celtypes.DoubleKind, celtypes.StringKind:
				return true
			}
		}
	}
	return false
}

// code calls the binding on boxed arguments.
func (b *binding) code(inv *invocation) *code {
	args := make([]valFunc, len(inv.args))
	for i, arg := range inv.args {
		args[i] = arg.boxed()
	}
	pricedFirst, joins := isPricedFirst(b.overload), b.function == operators.Add
	c := boxedCode(asCall, func(f *frame) ref.Val {
		base := len(f.args)
		for _, arg := range args {
			v := arg(f)
			if b.listed && !b.lenient && celtypes.IsUnknownOrError(v) && len(f.args)-base < len(args)-1 {
				f.popArgs(base)
				return v // CEL does not price a call whose arguments it did not get to
			}
			f.args = append(f.args, v)
		}
		vals := f.args[base:]
		if pricedFirst {
			f.charge(callCost(b.function, b.overload, vals, nil))
		}
		b.addWork(f, vals)
		result := b.apply(vals)
		if !pricedFirst {
			f.charge(callCost(b.function, b.overload, vals, result))
		}
		if joins {
			result = flat(result)
		}
		f.popArgs(base)
		return result
	})
	c.exact = b.exact
	return c
}

// apply calls the function, or the receiver if nothing is bound.
func (b *binding) apply(args []ref.Val) ref.Val {
	if !b.lenient {
		for _, arg := range args {
			if celtypes.IsUnknownOrError(arg) {
				return arg
			}
		}
	}
	if b.arity == 0 {
		return b.variadic()
	}
	bound := b.unary != nil || b.binary != nil || b.variadic != nil
	if bound && (b.trait == 0 || b.lenient && celtypes.IsUnknownOrError(args[0]) || args[0].Type().HasTrait(b.trait)) {
		switch {
		case b.listed:
			return b.variadic(args...)
		case b.arity == 1:
			return b.unary(args[0])
		}
		return b.binary(args[0], args[1])
	}
	if args[0].Type().HasTrait(traits.ReceiverType) {
		return args[0].(traits.Receiver).Receive(b.function, b.overload, args[1:])
	}
	text := fmt.Sprintf("no such overload: %s", b.function)
	if b.listed {
		text += fmt.Sprintf(" %d", b.id)
	}
	return celtypes.NewErrFromString(text)
}
