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

// How it works: a call is typed if its arguments are typed and typed.go or a neighboring file has
// code for its overload. Other calls go to the function that the environment binds, found in
// cel-go's order: by overload, then by name, then by the receiver. In cel-go, the number of
// arguments and the kind of binding determine which arguments' errors end a call, and whether the
// call is charged then. The fields listed and lenient distinguish these cases.
//
// Arguments are kept on a stack in the frame, so that a call allocates no slice.

type invocation struct {
	id       int64
	function string
	overload string // "" if it depends on the arguments' values
	may      []string
	args     []*code
	typ      *celtypes.Type
}

func (p *planner) call(e ast.Expr) (*code, error) {
	call := e.AsCall()
	switch call.FunctionName() {
	case operators.LogicalAnd:
		return p.junction(e, no, yes)
	case operators.LogicalOr:
		return p.junction(e, yes, no)
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

func (p *planner) invoke(inv *invocation) (*code, error) {
	switch inv.function {
	case operators.Equals, operators.NotEquals:
		return p.semantics.equalityCode(inv), nil
	case "or", "orValue":
		if c := p.semantics.optionalOr(inv); c != nil {
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
		if c := p.semantics.typedCall(inv); c != nil {
			return c, nil
		}
	}
	lib, err := p.library(inv)
	if err != nil {
		return nil, err
	}
	if folds {
		v := lib.apply([]ref.Val{inv.args[0].constant})
		if celtypes.IsError(v) {
			return nil, v.(*celtypes.Err)
		}
		return constant(v, inv.typ), nil
	}
	return lib.code(inv), nil
}

// decides is the value of a term that determines the result alone. terms flattens nested operators only if that changes
// neither errors nor costs, and if no probe or record needs the values of the inner operators.
func (p *planner) junction(e ast.Expr, decides, rest truth) (*code, error) {
	terms, err := p.terms(e, e.AsCall().FunctionName(), nil)
	switch {
	case err != nil:
		return nil, err
	case p.semantics.has[lateTypeErrors]:
		return boolCode(junctionLate(terms[0], terms[1], decides, rest)), nil
	}
	return boolCode(junction(terms, decides, rest)), nil
}

func (p *planner) terms(e ast.Expr, function string, terms []testFunc) ([]testFunc, error) {
	for _, arg := range e.AsCall().Args() {
		if arg.Kind() == ast.CallKind && arg.AsCall().FunctionName() == function && p.probes[arg.ID()] == nil && p.recording == nil && !p.semantics.has[lateTypeErrors] {
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

type binding struct {
	semantics          *semantics
	id                 int64
	function, overload string

	unary    functions.UnaryOp
	binary   functions.BinaryOp
	variadic functions.FunctionOp
	trait    int
	lenient  bool // also called with errors as arguments
	arity    int
	// listed is set if the first error ends the evaluation of the arguments even before errorsEnd.
	listed  bool
	exact   bool
	demands []demand
}

func (p *planner) library(inv *invocation) (*binding, error) {
	b := &binding{semantics: p.semantics, id: inv.id, function: inv.function, overload: inv.overload, arity: len(inv.args)}
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
		return nil, errUnsupported // cel-go rejects it too
	}
	switch {
	case inv.function == "format" && b.variadic != nil:
		b.variadic = wrapFormat(b.variadic)
	case inv.function == "cel.@mapInsert" && b.binary != nil:
		b.binary = wrapInsert(b.binary)
	}
	b.exact = fn.isExact(inv)
	b.demands = demandsOf(inv)
	b.revise()
	if impl != nil && p.semantics.has[guardedItems] {
		for _, o := range fn.overloads {
			if o.ID() == inv.overload && impl.Operator == o.ID() {
				b.guard(o.ArgTypes())
			}
		}
	}
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

// isExact reports whether the overload's declared result is a bool, int, double, or string, which
// excludes null.
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

func (b *binding) code(inv *invocation) *code {
	args := make([]valFunc, len(inv.args))
	for i, arg := range inv.args {
		args[i] = arg.boxed()
	}
	call := b.caller()
	c := boxedCode(asCall, func(f *frame) ref.Val {
		base := len(f.args)
		for _, arg := range args {
			v := arg(f)
			if (f.errorsEnd || b.listed && len(f.args)-base < len(args)-1) && !b.lenient && celtypes.IsUnknownOrError(v) {
				f.popArgs(base)
				return v // CEL does not charge a call unless all arguments were evaluated
			}
			f.args = append(f.args, v)
		}
		return call(f, base)
	})
	c.exact = b.exact
	return c
}

// A callFunc calls a function with the arguments above base on the stack, and removes them.
type callFunc = func(f *frame, base int) ref.Val

func (b *binding) caller() callFunc {
	pricedFirst, joins := isPricedFirst(b.overload), b.function == operators.Add
	cost := b.semantics.price(b.function, b.overload)
	return func(f *frame, base int) ref.Val {
		vals := f.args[base:]
		if pricedFirst {
			f.charge(cost(b.overload, vals, nil))
		}
		b.addWork(f, vals)
		result := b.apply(vals)
		if !pricedFirst {
			f.charge(cost(b.overload, vals, result))
		}
		if joins {
			result = flat(result)
		}
		f.popArgs(base)
		return result
	}
}

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
