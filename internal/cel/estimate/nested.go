package estimate

import (
	"math"
	"slices"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

// How it works: since nestedSizes, the size of a list or map includes the sizes of its entries at every
// level. They come from the expression that creates the value or from the declarations below its path.
// See common/cost/estimator.go, common/cost/default_strategy.go, and common/cost/helper.go in cel-go 0.33.2.

func unknown() size { return ranged(checker.UnknownSizeEstimate()) }

func unionOf(a, b *size) *size {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	u := a.union(*b)
	return &u
}

func (s size) entry() size {
	if s.elem != nil {
		return *s.elem
	}
	return unknown()
}

func (w *walk) nested(x *priced, e ast.Expr) size {
	if e.Kind() == ast.IdentKind {
		if l := w.local(e.AsIdent()); l != nil && l.size.known {
			if d := w.declared(x.at); d != nil {
				return atMost(d)
			}
			return l.size
		}
	}
	t := w.checked.GetType(e.ID())
	switch e.Kind() {
	case ast.ListKind:
		length, elem := w.listLength(e.AsList(), x.parts)
		return withElem(length, w.child(x.at, "@items", parameter(t, 0), elem))
	case ast.MapKind:
		length, key, elem := w.mapLength(e.AsMap(), x.parts)
		return withEntries(length, w.child(x.at, "@keys", parameter(t, 0), key), w.child(x.at, "@values", parameter(t, 1), elem))
	}
	s := w.sizeAt(x.at, t)
	if k := t.Kind(); !s.known && k == celtypes.ListKind {
		return withElem(unknown(), nil)
	} else if !s.known && k == celtypes.MapKind {
		return withEntries(unknown(), nil, nil)
	}
	return s
}

func atMost(d Declaration) size { return ranged(checker.SizeEstimate{Max: uint64(d.MaxSize())}) }

func (w *walk) sizeAt(at destination, t *celtypes.Type) (s size) {
	d := w.declared(at)
	if d != nil {
		s = atMost(d)
	}
	switch t.Kind() {
	case celtypes.ListKind:
		return withElem(s, w.child(at, "@items", parameter(t, 0), nil))
	case celtypes.MapKind:
		return withEntries(s, w.child(at, "@keys", parameter(t, 0), nil), w.child(at, "@values", parameter(t, 1), nil))
	case celtypes.DynKind, celtypes.AnyKind, celtypes.TypeParamKind:
		if d == nil {
			return s
		}
		if elem := w.dynamicChild(at, d, "@items"); elem != nil {
			return withElem(s, elem)
		}
		if key, elem := w.dynamicChild(at, d, "@keys"), w.dynamicChild(at, d, "@values"); key != nil || elem != nil {
			return withEntries(s, key, elem)
		}
	default:
		if !s.known && w.scalar(t) {
			return fixed(1)
		}
	}
	return s
}

func (w *walk) dynamicChild(at destination, d Declaration, step string) *size {
	if d.Child(step) == nil {
		return nil
	}
	s := w.sizeAt(w.step(at, step), celtypes.DynType)
	return &s
}

// child returns the size of the items, keys, or values of a list or map, or nil if it is unknown. s is the size as far as
// the expression determines it, or nil. The declaration supplies the rest.
func (w *walk) child(at destination, step string, t *celtypes.Type, s *size) *size {
	lacks := s == nil
	if s != nil && s.elem == nil {
		switch t.Kind() {
		case celtypes.ListKind, celtypes.MapKind, celtypes.DynKind, celtypes.AnyKind, celtypes.TypeParamKind:
			lacks = true
		}
	}
	if lacks && at.steps > 0 {
		if of := w.sizeAt(w.step(at, step), t); of.known && !of.isUnknown() {
			if s != nil {
				of.SizeEstimate = s.SizeEstimate
			}
			s = &of
		}
	}
	if s == nil && w.scalar(t) {
		one := fixed(1)
		s = &one
	}
	return s
}

func (s *size) isUnknown() bool {
	return s.Min == 0 && s.Max == math.MaxUint64 && s.key == nil && s.elem == nil
}

// withElem returns the size of a list of length s. If only the size of its items is known, its
// length has the range of all sizes.
func withElem(s size, elem *size) size {
	if !s.known && elem == nil {
		return s
	}
	if !s.known {
		s = unknown()
	}
	s.key, s.elem = nil, entryOf(s, elem)
	return s
}

func withEntries(s size, key, elem *size) size {
	if !s.known && key == nil && elem == nil {
		return s
	}
	if !s.known {
		s = unknown()
	}
	s.key, s.elem = entryOf(s, key), entryOf(s, elem)
	return s
}

// entryOf returns entry, or the range of all sizes if entry is nil and a list or map of size s can have entries.
func entryOf(s size, entry *size) *size {
	if entry == nil && s.Max > 0 {
		u := unknown()
		return &u
	}
	return entry
}

func parameter(t *celtypes.Type, i int) *celtypes.Type {
	if all := t.Parameters(); i < len(all) && all[i] != nil {
		return all[i]
	}
	return celtypes.DynType
}

func (w *walk) part(x *operand) *size {
	w.measure(&x.priced, x.expr)
	if !x.size.known {
		x.size = unknown()
	}
	return &x.size
}

func (w *walk) listLength(list ast.ListExpr, items []operand) (length size, elem *size) {
	optional := map[int]bool{}
	for _, i := range list.OptionalIndices() {
		optional[int(i)] = true
	}
	length = fixed(uint64(len(items)))
	length.Min -= uint64(len(optional))
	for i := range items {
		item := &items[i]
		if optional[i] {
			value, none := optionalLiteral(item.expr)
			if none {
				length.Max--
				continue
			}
			if value != nil {
				item = &operand{w.expr(value), value}
			}
		}
		elem = unionOf(elem, w.part(item))
	}
	return length, elem
}

// optionalLiteral returns the value in optional.of(value) or optional.ofNonZeroValue(value), or
// nil. none is set for optional.none().
func optionalLiteral(e ast.Expr) (value ast.Expr, none bool) {
	if e.Kind() != ast.CallKind || e.AsCall().IsMemberFunction() {
		return nil, false
	}
	switch call := e.AsCall(); call.FunctionName() {
	case "optional.none":
		return nil, true
	case "optional.of", "optional.ofNonZeroValue":
		return call.Args()[0], false
	}
	return nil, false
}

func (w *walk) mapLength(m ast.MapExpr, parts []operand) (length size, key, elem *size) {
	length = fixed(uint64(len(m.Entries())))
	for i, entry := range m.Entries() {
		if entry.AsMapEntry().IsOptional() {
			length.Min--
		}
		key, elem = unionOf(key, w.part(&parts[2*i])), unionOf(elem, w.part(&parts[2*i+1]))
	}
	return length, key, elem
}

// An argument that may have entries of unknown size has entries of any size.
func (o *operands) merged(s size, i, j int) size {
	a, b := o.args[i].size.orUnknown(), o.args[j].size.orUnknown()
	anyKey, anyElem := a.key != nil || b.key != nil, a.elem != nil || b.elem != nil
	if !anyKey && !anyElem {
		return s
	}
	for _, x := range [...]struct {
		size
		container bool
	}{{a, mayContain(o.typeOf(&o.args[i]))}, {b, mayContain(o.typeOf(&o.args[j]))}} {
		unstated := x.Max > 0 && x.key == nil && x.elem == nil && x.container
		if anyElem {
			if x.elem == nil && (unstated || x.key != nil && x.Max > 0) {
				u := unknown()
				x.elem = &u
			}
			s.elem = unionOf(s.elem, x.elem)
		}
		if anyKey {
			if x.key == nil && unstated {
				u := unknown()
				x.key = &u
			}
			s.key = unionOf(s.key, x.key)
		}
	}
	return s
}

func mayContain(t *celtypes.Type) bool {
	switch t.Kind() {
	case celtypes.BoolKind, celtypes.DoubleKind, celtypes.DurationKind, celtypes.IntKind, celtypes.NullTypeKind, celtypes.TimestampKind,
		celtypes.UintKind, celtypes.StringKind, celtypes.BytesKind:
		return false
	}
	return true
}

func inserted(o *operands) (priced, bool) {
	x := priced{cost: checker.FixedCostEstimate(1)}
	s := o.args[0].size.orUnknown()
	switch len(o.args) {
	case 2:
		other := o.args[1].size.orUnknown()
		x.size = ranged(s.Add(other.SizeEstimate))
		x.size.key, x.size.elem = unionOf(s.key, other.key), unionOf(s.elem, other.elem)
	case 3:
		key, elem := o.args[1].size.orUnknown(), o.args[2].size.orUnknown()
		x.size = ranged(s.Add(checker.FixedSizeEstimate(1)))
		x.size.key, x.size.elem = unionOf(s.key, &key), unionOf(s.elem, &elem)
	}
	return x, true
}

// branches returns the cost of a presence test that depends on the branches of the conditional at the root
// of its operand.
func branches(operand ast.Expr) checker.CostEstimate {
	root := operand
	for isAttribute(root) && root.Kind() != ast.IdentKind && !isCall(root, operators.Conditional) && !isTest(root) {
		if root.Kind() == ast.SelectKind {
			root = root.AsSelect().Operand()
		} else {
			root = root.AsCall().Args()[0]
		}
	}
	if !isCall(root, operators.Conditional) {
		return checker.CostEstimate{}
	}
	branch := func(e ast.Expr) checker.CostEstimate {
		if !isAttribute(e) || isTest(e) {
			return checker.FixedCostEstimate(1)
		}
		return branches(e)
	}
	args := root.AsCall().Args()
	return branch(args[1]).Union(branch(args[2]))
}

func isCall(e ast.Expr, functions ...string) bool {
	return e.Kind() == ast.CallKind && slices.Contains(functions, e.AsCall().FunctionName())
}

func isTest(e ast.Expr) bool { return e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() }

// isAttribute reports whether cel-go resolves e step by step from a variable or a conditional.
func isAttribute(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind || e.Kind() == ast.SelectKind ||
		isCall(e, operators.Index, operators.OptIndex, operators.OptSelect, operators.Conditional)
}
