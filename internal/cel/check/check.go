package check

import (
	"errors"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

// ErrNotAccepted reports that an expression is invalid or not supported by this package. Use
// cel-go's checker to find out.
var ErrNotAccepted = errors.New("no expression that is checked here")

// Check checks a parsed expression without macro calls, which it modifies. variables are added to the variables of the Config. provider
// provides types, their fields, and constants, whose names must not begin with the name of a variable and a dot. The
// error is ErrNotAccepted; the contents of parsed are then undefined.
func (c *Checker) Check(parsed *ast.AST, provider celtypes.Provider, variables ...*Variable) (*ast.AST, error) {
	s := c.states.Get().(*state)
	defer s.end()
	s.Checker, s.provider, s.roots, s.sameNumbers, s.dotted = c, provider, variables, true, c.dotted
	for _, v := range variables {
		s.dotted = s.dotted || v.dotted
	}
	if s.check(parsed.Expr()) == nil {
		return nil, ErrNotAccepted
	}
	checked := ast.NewCheckedAST(parsed, s.typeMap(), s.references())
	s.clearUnused(checked.SourceInfo())
	return checked, nil
}

type state struct {
	*Checker
	provider celtypes.Provider
	roots    []*Variable
	dotted   bool
	// sameNumbers is true until the first macro. After a macro, cel-go compares numbers of
	// different types in every environment.
	sameNumbers bool
	// locals holds the variables of macros, innermost last.
	locals []local
	nodes  []node
	typed  int // number of nodes with a type
	refs   int // number of nodes with a reference
	args   []*celtypes.Type
	// bound holds the type bound to each type variable, or nil. trail holds the previous types of
	// the variables bound by the current attempt.
	bound []*celtypes.Type
	trail []binding
	// explained provides the positions of mismatches. It is nil if mismatches are not collected.
	explained  *ast.SourceInfo
	mismatches []*common.Error
}

type local struct {
	name string
	typ  *celtypes.Type
	ref  *ast.ReferenceInfo
}

type node struct {
	typ *celtypes.Type
	ref *ast.ReferenceInfo
	// used is set for nodes that are part of the tree but have no type.
	used bool
}

// maxKept limits the capacity of the slices that a state keeps for reuse. maxID limits the IDs; a
// parser numbers nodes without large gaps.
const (
	maxKept = 1024
	maxID   = 1 << 20
)

func (s *state) end() {
	checker := s.Checker
	clear(s.locals[:cap(s.locals)])
	clear(s.nodes)
	clear(s.args[:cap(s.args)])
	clear(s.bound[:cap(s.bound)])
	clear(s.trail[:cap(s.trail)])
	*s = state{nodes: s.nodes[:0], locals: s.locals[:0], args: s.args[:0], bound: s.bound[:0], trail: s.trail[:0]}
	if cap(s.nodes) <= maxKept && cap(s.args) <= maxKept && cap(s.bound) <= maxKept && cap(s.trail) <= maxKept {
		checker.states.Put(s)
	}
}

// check returns the type of e, or nil if e is rejected.
func (s *state) check(e ast.Expr) *celtypes.Type {
	var t *celtypes.Type
	switch e.Kind() {
	case ast.LiteralKind:
		t = literal(e)
	case ast.IdentKind:
		t = s.ident(e)
	case ast.SelectKind:
		t = s.selection(e)
	case ast.CallKind:
		t = s.call(e)
	case ast.ListKind:
		t = s.list(e.AsList())
	case ast.MapKind:
		t = s.mapping(e.AsMap())
	case ast.ComprehensionKind:
		t = s.loop(e.AsComprehension())
	}
	n := s.node(e.ID())
	if t == nil || n == nil || n.typ != nil && !n.typ.IsExactType(t) {
		return nil
	}
	if n.typ == nil {
		s.typed++
	}
	n.typ = t
	return t
}

// node returns nil if the ID is out of range.
func (s *state) node(id int64) *node {
	if id < 0 || id >= maxID {
		return nil
	}
	for int64(len(s.nodes)) <= id {
		s.nodes = append(s.nodes, node{})
	}
	return &s.nodes[id]
}

// refer reports whether the ID is in range and no different reference was recorded before.
func (s *state) refer(e ast.Expr, ref *ast.ReferenceInfo) bool {
	n := s.node(e.ID())
	if n == nil || n.ref != nil && !n.ref.Equals(ref) {
		return false
	}
	if n.ref == nil {
		s.refs++
	}
	n.ref = ref
	return true
}

// Bound type variables are replaced by their types, others by dyn.
func (s *state) typeMap() map[int64]*celtypes.Type {
	types := make(map[int64]*celtypes.Type, s.typed)
	for id, n := range s.nodes {
		if n.typ != nil {
			types[int64(id)] = s.substituted(termOf(n.typ), true)
		}
	}
	return types
}

func (s *state) references() map[int64]*ast.ReferenceInfo {
	refs := make(map[int64]*ast.ReferenceInfo, s.refs)
	for id, n := range s.nodes {
		if n.ref != nil {
			refs[int64(id)] = n.ref
		}
	}
	return refs
}

func (s *state) clearUnused(info *ast.SourceInfo) {
	for id := range info.OffsetRanges() {
		if id >= int64(len(s.nodes)) || s.nodes[id].typ == nil && !s.nodes[id].used {
			info.ClearOffsetRange(id)
		}
	}
}

// use marks an ID that has no type as part of the tree. It reports whether the ID is in range.
func (s *state) use(id int64) bool {
	n := s.node(id)
	if n != nil {
		n.used = true
	}
	return n != nil
}

func literal(e ast.Expr) *celtypes.Type {
	switch t := e.AsLiteral().Type(); t {
	case celtypes.BoolType, celtypes.BytesType, celtypes.DoubleType, celtypes.IntType, celtypes.NullType, celtypes.StringType, celtypes.UintType:
		return t.(*celtypes.Type)
	}
	return nil
}

func (s *state) list(list ast.ListExpr) *celtypes.Type {
	var items *celtypes.Type
	for i, e := range list.Elements() {
		item := s.check(e)
		if item != nil && list.IsOptional(int32(i)) {
			item = entryType(item)
		}
		if items = s.joined(items, item); items == nil {
			return nil
		}
	}
	if items == nil {
		items = s.newVariable()
	}
	return celtypes.NewListType(items)
}

func (s *state) mapping(m ast.MapExpr) *celtypes.Type {
	var keys, values *celtypes.Type
	for _, e := range m.Entries() {
		entry := e.AsMapEntry()
		if keys = s.joined(keys, s.check(entry.Key())); keys == nil || !s.use(e.ID()) {
			return nil
		}
		value := s.check(entry.Value())
		if value != nil && entry.IsOptional() {
			value = entryType(value)
		}
		if values = s.joined(values, value); values == nil {
			return nil
		}
	}
	if keys == nil {
		keys, values = s.newVariable(), s.newVariable()
	}
	return celtypes.NewMapType(keys, values)
}

// entryType returns the type inside the optional type t, dyn for dyn, and nil for any other type.
func entryType(t *celtypes.Type) *celtypes.Type {
	if inner, ok := unwrapped(t); ok || isDyn(t) {
		return inner
	}
	return nil
}

// before is nil for the first element. joined returns nil if t is nil.
func (s *state) joined(before, t *celtypes.Type) *celtypes.Type {
	switch {
	case before == nil || t == nil:
		return t
	case s.assignable(before, t):
		return s.general(termOf(before), termOf(t)).Type
	}
	return celtypes.DynType
}

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

// first is nil if t cannot be iterated.
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
