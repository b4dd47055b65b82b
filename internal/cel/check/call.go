package check

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/containers"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

func (s *state) call(e ast.Expr) *celtypes.Type {
	call := e.AsCall()
	if call.FunctionName() == operators.OptSelect {
		return s.optionalField(e, call)
	}
	from := len(s.args)
	defer func() { s.args = s.args[:from] }()
	s.args = append(s.args, nil) // for the target
	for _, arg := range call.Args() {
		t := s.check(arg)
		if t == nil {
			return nil
		}
		s.args = append(s.args, t)
	}
	if !call.IsMemberFunction() {
		return s.free(e, s.function(call.FunctionName()), s.args[from+1:])
	}
	target := call.Target()
	if first, ok := firstName(target); ok && s.spaces[strings.TrimPrefix(first, ".")] {
		space, _ := containers.ToQualifiedName(target)
		if fn := s.function(space + "." + call.FunctionName()); fn != nil {
			return s.free(e, fn, s.args[from+1:])
		}
	}
	t := s.check(target)
	fn := s.functions[call.FunctionName()]
	if t == nil || fn == nil {
		return nil
	}
	s.args[from] = t
	return s.overloads(e, fn.members, s.args[from:])
}

func (c *Checker) function(name string) *function {
	return c.functions[strings.TrimPrefix(name, ".")]
}

// free checks a call of a function that is not a member, and rewrites e to such a call if
// necessary.
func (s *state) free(e ast.Expr, fn *function, args []*celtypes.Type) *celtypes.Type {
	if fn == nil {
		return nil
	}
	if call := e.AsCall(); call.IsMemberFunction() || call.FunctionName() != fn.name {
		e.SetKindCase(factory.NewCall(e.ID(), fn.name, call.Args()...))
	}
	if fn.logical && len(fn.free) > 0 {
		return s.logical(e, fn, args)
	}
	return s.overloads(e, fn.free, args)
}

func (s *state) logical(e ast.Expr, fn *function, args []*celtypes.Type) *celtypes.Type {
	for _, t := range args {
		if !s.assignable(t, celtypes.BoolType) {
			return nil
		}
	}
	return s.referred(e, celtypes.BoolType, fn.free[0].ref)
}

// optionalField checks a.?b.
func (s *state) optionalField(e ast.Expr, call ast.CallExpr) *celtypes.Type {
	args := call.Args()
	if len(args) != 2 || call.IsMemberFunction() || args[1].Kind() != ast.LiteralKind {
		return nil
	}
	name, ok := args[1].AsLiteral().(celtypes.String)
	if !ok || !s.use(args[1].ID()) {
		return nil
	}
	t := s.field(args[0], string(name), true)
	if t == nil {
		return nil
	}
	return s.referred(e, s.resolved(termOf(t)), optionalFieldRef)
}

var optionalFieldRef = ast.NewFunctionReference("select_optional_field")

// overloads returns the result type of the overloads that accept args, or dyn if their result types
// differ. If no overload accepts args, it returns the result of mismatch.
func (s *state) overloads(e ast.Expr, list []overload, args []*celtypes.Type) (result *celtypes.Type) {
	var ref *ast.ReferenceInfo
	for i := range list {
		o := &list[i]
		if o.mixed && s.sameNumbers || !o.mayTake(args) {
			continue
		}
		t := s.taken(o, args)
		switch {
		case t == nil:
			continue
		case result == nil:
			result, ref = t, o.ref
			continue
		case !isDyn(result) && !t.IsExactType(result):
			result = celtypes.DynType
		}
		ref = ast.NewFunctionReference(append(ref.OverloadIDs[:len(ref.OverloadIDs):len(ref.OverloadIDs)], o.id)...)
	}
	if result == nil {
		return s.mismatch(e, args)
	}
	return s.referred(e, result, ref)
}

// mayTake reports whether o could accept args. It quickly rejects most overloads.
func (o *overload) mayTake(args []*celtypes.Type) bool {
	if len(args) != len(o.args) {
		return false
	}
	for i, t := range args {
		kind, want := t.Kind(), o.args[i].Kind()
		if kind != want && plain[kind] && plain[want] {
			return false
		}
	}
	return true
}

// taken returns the result type of o for args, or nil if o does not accept them.
func (s *state) taken(o *overload, args []*celtypes.Type) *celtypes.Type {
	variables, base := len(s.bound), 0
	if o.params > 0 {
		base = s.newVariables(o.params)
	}
	for i, t := range args {
		if !s.assign(termOf(t), term{o.args[i], base}) {
			s.undo(variables)
			return nil
		}
	}
	s.trail = s.trail[:0]
	return s.resolved(term{o.result, base})
}
