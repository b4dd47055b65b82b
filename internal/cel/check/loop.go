package check

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

func (s *state) loop(loop ast.ComprehensionExpr) *celtypes.Type {
	over := s.check(loop.IterRange())
	if over == nil {
		return nil
	}
	result := s.check(loop.AccuInit())
	if result == nil {
		return nil
	}
	first, second := s.items(s.resolved(termOf(over)), loop.HasIterVar2())
	if first == nil || ambiguous(loop) {
		return nil
	}
	s.sameNumbers = false
	outer := len(s.locals)
	defer func() { s.locals = s.locals[:outer] }()
	s.declare(loop.AccuVar(), result)
	s.declare(loop.IterVar(), first)
	if loop.HasIterVar2() {
		s.declare(loop.IterVar2(), second)
	}
	if t := s.check(loop.LoopCondition()); t == nil || !s.assignable(celtypes.BoolType, t) {
		return nil
	}
	if t := s.check(loop.LoopStep()); t == nil || !s.assignable(result, t) {
		return nil
	}
	s.locals = s.locals[:outer+1]
	t := s.check(loop.Result())
	if t == nil {
		return nil
	}
	return s.resolved(termOf(t))
}

func (s *state) declare(name string, t *celtypes.Type) {
	s.locals = append(s.locals, local{name: name, typ: t})
}

// ambiguous reports whether the loop has variable names that no macro generates.
func ambiguous(loop ast.ComprehensionExpr) bool {
	return loop.IterVar() == loop.IterVar2() || strings.HasPrefix(loop.IterVar(), ".") ||
		strings.HasPrefix(loop.IterVar2(), ".") || strings.HasPrefix(loop.AccuVar(), ".")
}

// items returns the types of the iteration variables of a loop over t. first is nil if t cannot be
// iterated.
func (s *state) items(t *celtypes.Type, two bool) (first, second *celtypes.Type) {
	switch t.Kind() {
	case celtypes.ListKind:
		if two {
			return celtypes.IntType, t.Parameters()[0]
		}
		return t.Parameters()[0], nil
	case celtypes.MapKind:
		return t.Parameters()[0], t.Parameters()[1]
	case celtypes.DynKind, celtypes.ErrorKind, celtypes.TypeParamKind:
		s.assignable(celtypes.DynType, t)
		return celtypes.DynType, celtypes.DynType
	}
	return nil, nil
}
