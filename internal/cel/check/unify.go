package check

import (
	"slices"

	celtypes "github.com/google/cel-go/common/types"
)

// plain holds the kinds whose types are not assignable to types of other plain kinds.
var plain = [32]bool{
	celtypes.BoolKind: true, celtypes.BytesKind: true, celtypes.DoubleKind: true, celtypes.DurationKind: true,
	celtypes.IntKind: true, celtypes.ListKind: true, celtypes.MapKind: true, celtypes.OpaqueKind: true,
	celtypes.StringKind: true, celtypes.StructKind: true, celtypes.TimestampKind: true, celtypes.TypeKind: true, celtypes.UintKind: true,
}

type binding struct {
	variable int
	was      *celtypes.Type
}

func (s *state) newVariables(n int) (base int) {
	base = len(s.bound)
	for range n {
		s.bound = append(s.bound, nil)
	}
	return base
}

func (s *state) newVariable() *celtypes.Type { return numbered(s.newVariables(1)) }

func (s *state) bind(variable int, t term) {
	s.trail = append(s.trail, binding{variable, s.bound[variable]})
	s.bound[variable] = s.renumbered(t)
}

// undo reverts the bindings of an attempt and removes the variables that it added.
func (s *state) undo(variables int) {
	for _, b := range slices.Backward(s.trail) {
		s.bound[b.variable] = b.was
	}
	s.trail, s.bound = s.trail[:0], s.bound[:variables]
}

// renumbered returns t as a type whose variables are numbered from 0.
func (s *state) renumbered(t term) *celtypes.Type {
	if t.base == 0 {
		return t.Type
	}
	if t.Kind() == celtypes.TypeParamKind {
		return numbered(t.variable())
	}
	return withParameters(t.Type, func(p *celtypes.Type) *celtypes.Type { return s.renumbered(term{p, t.base}) })
}

func (s *state) resolved(t term) *celtypes.Type { return s.substituted(t, false) }

// substituted is like resolved. If dyn is set, it also replaces unbound variables by dyn.
func (s *state) substituted(t term, dyn bool) *celtypes.Type {
	if t.base == 0 && len(s.bound) == 0 {
		return t.Type
	}
	if t.Kind() != celtypes.TypeParamKind {
		if len(t.Parameters()) == 0 {
			return t.Type
		}
		return withParameters(t.Type, func(p *celtypes.Type) *celtypes.Type { return s.substituted(term{p, t.base}, dyn) })
	}
	variable := t.variable()
	switch is := s.bound[variable]; {
	case is != nil:
		return s.substituted(termOf(is), dyn)
	case dyn:
		return celtypes.DynType
	}
	return numbered(variable)
}

// assignable reports whether a is assignable to b, and binds variables to make it so. If it returns
// false, it leaves the bindings unchanged.
func (s *state) assignable(a, b *celtypes.Type) bool {
	if s.assign(termOf(a), termOf(b)) {
		s.trail = s.trail[:0]
		return true
	}
	s.undo(len(s.bound))
	return false
}

// assign reports the same as assignable, but does not undo bindings if the result is false.
func (s *state) assign(a, b term) bool {
	if a == b {
		return true
	}
	if b.Kind() == celtypes.TypeParamKind {
		if fits, was := s.bindTo(b, a); fits || was {
			return fits
		}
	}
	if a.Kind() == celtypes.TypeParamKind {
		fits, _ := s.bindTo(a, b)
		return fits
	}
	if isDynOrError(a.Type) || isDynOrError(b.Type) {
		return true
	}
	switch {
	case a.Kind() == celtypes.NullTypeKind:
		return nullable(b.Type)
	case b.Kind() == celtypes.NullTypeKind:
		return nullable(a.Type)
	case a.Kind() != b.Kind():
		return false
	}
	switch a.Kind() {
	case celtypes.TypeKind:
		return !s.typeParameters || s.assignType(a, b)
	case celtypes.OpaqueKind, celtypes.ListKind, celtypes.MapKind:
		return a.TypeName() == b.TypeName() && len(a.Parameters()) == len(b.Parameters()) && s.assignParameters(a, b)
	}
	return b.IsAssignableType(a.Type)
}

// assignType is assign for the types of types, which may differ if they have no variables.
func (s *state) assignType(a, b term) bool {
	switch {
	case len(a.Parameters()) == 0 || len(b.Parameters()) == 0:
		return len(b.Parameters()) == 0
	case hasVariable(a.Type) || hasVariable(b.Type):
		return s.assign(a.param(0), b.param(0))
	}
	return true
}

func hasVariable(t *celtypes.Type) bool {
	return t.Kind() == celtypes.TypeParamKind || slices.ContainsFunc(t.Parameters(), hasVariable)
}

func (s *state) assignParameters(a, b term) bool {
	for i := range a.Parameters() {
		if !s.assign(a.param(i), b.param(i)) {
			return false
		}
	}
	return true
}

func nullable(t *celtypes.Type) bool {
	switch t.Kind() {
	case celtypes.OpaqueKind, celtypes.StructKind, celtypes.AnyKind, celtypes.DurationKind, celtypes.TimestampKind:
		return true
	}
	return t.IsAssignableType(celtypes.NullType)
}

// bindTo reports whether a variable can represent t, and binds the variable if necessary. wasBound
// reports whether the variable was already bound.
func (s *state) bindTo(variable, t term) (ok, wasBound bool) {
	if sameTerm(t, variable) {
		return true, true
	}
	v := variable.variable()
	if is := s.bound[v]; is != nil {
		if sameTerm(t, termOf(is)) {
			return true, true
		}
		if !s.assign(t, termOf(is)) {
			return false, true
		}
		if to := s.general(t, termOf(is)); !s.occursIn(v, to) {
			s.bind(v, to)
		}
		return true, true
	}
	if s.occursIn(v, t) {
		return false, false
	}
	s.bind(v, t)
	return true, false
}

func (s *state) occursIn(variable int, t term) bool {
	if t.Kind() == celtypes.TypeParamKind {
		v := t.variable()
		return v == variable || s.bound[v] != nil && s.occursIn(variable, termOf(s.bound[v]))
	}
	for i := range t.Parameters() {
		if s.occursIn(variable, t.param(i)) {
			return true
		}
	}
	return false
}
