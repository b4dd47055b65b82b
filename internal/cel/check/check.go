package check

import (
	"errors"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
)

// ErrNotAccepted means that an expression is wrong, or beyond what is checked here:
// cel-go's checker knows.
var ErrNotAccepted = errors.New("no expression that is checked here")

// Check checks an expression that may name variables beside those of the Config,
// in place; provider knows types, their fields, and constants, none of which begins
// with a variable's name and a dot. The error is ErrNotAccepted, and the tree is
// spoilt then.
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
	s.clearUnused(checked)
	return checked, nil
}

// state is that of one check.
type state struct {
	*Checker
	provider celtypes.Provider
	roots    []*Variable
	dotted   bool // some variable has a dot in its name
	// sameNumbers is true until the first macro: behind one, cel-go compares
	// numbers of two types in every environment.
	sameNumbers bool
	// locals are the variables of macros, the innermost last.
	locals []local
	// nodes are those of the tree by their ids.
	nodes []node
	typed int // nodes with a type
	refs  int // nodes with a reference
	// args are a stack of types of arguments.
	args []*celtypes.Type
	// bound is what each variable stands for, or nil; trail is what those that the
	// attempt at hand bound stood for before.
	bound []*celtypes.Type
	trail []binding
}

type local struct {
	name string
	typ  *celtypes.Type
	ref  *ast.ReferenceInfo
}

// node is what is known of one.
type node struct {
	typ *celtypes.Type
	ref *ast.ReferenceInfo
	// used nodes stand in the tree, though they have no type.
	used bool
}

// maxKept bounds what a state keeps for the next check, and maxID the ids that are
// numbered so densely as a parser does.
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

// check gives an expression its type; nil where it is not accepted.
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

// node is that of an id; nil where it is none of a parser's.
func (s *state) node(id int64) *node {
	if id < 0 || id >= maxID {
		return nil
	}
	for int64(len(s.nodes)) <= id {
		s.nodes = append(s.nodes, node{})
	}
	return &s.nodes[id]
}

// refer notes what an expression refers to; it is false where that was something
// else before.
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

// typeMap is the types of all nodes, now that all is known.
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

// clearUnused drops the positions of nodes that are no more in the tree.
func (s *state) clearUnused(checked *ast.AST) {
	info := checked.SourceInfo()
	if len(info.MacroCalls()) > 0 {
		checked.ClearUnusedIDs()
		return
	}
	for id := range info.OffsetRanges() {
		if id >= int64(len(s.nodes)) || s.nodes[id].typ == nil && !s.nodes[id].used {
			info.ClearOffsetRange(id)
		}
	}
}

// use notes an id that has no type.
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

// list is the type of a list literal.
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

// mapping is the type of a map literal.
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

// entryType is the type that an optional entry gives; nil where it is not
// optional.
func entryType(t *celtypes.Type) *celtypes.Type {
	if inner, ok := unwrapped(t); ok || isDyn(t) {
		return inner
	}
	return nil
}

// joined is what two types have in common; before is nil for the first one. It is
// nil where t is.
func (s *state) joined(before, t *celtypes.Type) *celtypes.Type {
	switch {
	case before == nil || t == nil:
		return t
	case s.assignable(before, t):
		return general(termOf(before), termOf(t)).Type
	}
	return celtypes.DynType
}
