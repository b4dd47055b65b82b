package check

import (
	"strconv"
	"sync"

	celtypes "github.com/google/cel-go/common/types"
)

func numbered(n int) *celtypes.Type {
	if known := numbers(); n < len(known) {
		return known[n]
	}
	return celtypes.NewTypeParamType(strconv.Itoa(n))
}

var numbers = sync.OnceValue(func() (known [128]*celtypes.Type) {
	for i := range known {
		known[i] = celtypes.NewTypeParamType(strconv.Itoa(i))
	}
	return known
})

func parameterNumber(t *celtypes.Type) (n int) {
	for _, digit := range []byte(t.TypeName()) {
		n = 10*n + int(digit-'0')
	}
	return n
}

// withParameters returns t with f applied to its type parameters. It returns t itself if f changes
// nothing.
func withParameters(t *celtypes.Type, f func(*celtypes.Type) *celtypes.Type) *celtypes.Type {
	params := t.Parameters()
	switch t.Kind() {
	case celtypes.ListKind:
		if item := f(params[0]); item != params[0] {
			return celtypes.NewListType(item)
		}
	case celtypes.MapKind:
		if key, value := f(params[0]), f(params[1]); key != params[0] || value != params[1] {
			return celtypes.NewMapType(key, value)
		}
	case celtypes.TypeKind:
		if len(params) == 0 {
			return t
		}
		if of := f(params[0]); of != params[0] {
			return celtypes.NewTypeTypeWithParam(of)
		}
	case celtypes.OpaqueKind:
		var changed []*celtypes.Type
		for i, p := range params {
			to := f(p)
			if to != p && changed == nil {
				changed = append(make([]*celtypes.Type, 0, len(params)), params[:i]...)
			}
			if changed != nil {
				changed = append(changed, to)
			}
		}
		if changed != nil {
			return celtypes.NewOpaqueType(t.TypeName(), changed...)
		}
	}
	return t
}

// A term is a type in which the numbers of variables are relative to base.
type term struct {
	*celtypes.Type
	base int
}

// termOf returns the term for a type whose variables are numbered from 0. Only types of overloads
// have another base.
func termOf(t *celtypes.Type) term { return term{t, 0} }

func (t term) param(i int) term { return term{t.Parameters()[i], t.base} }

func (t term) variable() int { return t.base + parameterNumber(t.Type) }

// isDyn reports whether t is dyn or any. It and the following functions are equivalent to cel-go's.
func isDyn(t *celtypes.Type) bool {
	return t.Kind() == celtypes.DynKind || t.Kind() == celtypes.AnyKind
}

func isDynOrError(t *celtypes.Type) bool { return isDyn(t) || t.Kind() == celtypes.ErrorKind }

func unwrapped(t *celtypes.Type) (inner *celtypes.Type, optional bool) {
	if t.Kind() == celtypes.OpaqueKind && t.TypeName() == "optional_type" {
		return t.Parameters()[0], true
	}
	return t, false
}

func sameTerm(a, b term) bool {
	if a == b {
		return true
	}
	if a.Kind() != b.Kind() || len(a.Parameters()) != len(b.Parameters()) {
		return false
	}
	if a.Kind() == celtypes.TypeParamKind {
		return a.variable() == b.variable()
	}
	if a.TypeName() != b.TypeName() {
		return false
	}
	for i := range a.Parameters() {
		if !sameTerm(a.param(i), b.param(i)) {
			return false
		}
	}
	return true
}

func (c *Checker) general(a, b term) term {
	if c.lessSpecific(a, b) {
		return a
	}
	return b
}

func (c *Checker) lessSpecific(a, b term) bool {
	if isDyn(a.Type) || a.Kind() == celtypes.TypeParamKind {
		return true
	}
	if isDyn(b.Type) || b.Kind() == celtypes.TypeParamKind || a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case celtypes.OpaqueKind, celtypes.ListKind, celtypes.MapKind:
		if a.TypeName() != b.TypeName() || len(a.Parameters()) != len(b.Parameters()) {
			return false
		}
		for i := range a.Parameters() {
			if !c.lessSpecific(a.param(i), b.param(i)) {
				return false
			}
		}
		return true
	case celtypes.TypeKind:
		if c.typeParameters && len(a.Parameters()) > 0 {
			return len(b.Parameters()) > 0 && c.lessSpecific(a.param(0), b.param(0))
		}
		return true
	}
	return sameTerm(a, b)
}
