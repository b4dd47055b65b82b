package reword

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
)

type way struct {
	name string
	// apply reports whether it changed the node.
	apply func(m *maker, e ast.Expr) bool
}

// all holds all ways. Seeds select them by position, so add new ways at the end.
var all = []way{
	{"commuted", func(m *maker, e ast.Expr) bool {
		return m.swapped(e, map[string]string{operators.LogicalAnd: operators.LogicalAnd, operators.LogicalOr: operators.LogicalOr})
	}},
	{"equality turned round", func(m *maker, e ast.Expr) bool {
		return m.swapped(e, map[string]string{operators.Equals: operators.Equals, operators.NotEquals: operators.NotEquals})
	}},
	{"comparison turned round", func(m *maker, e ast.Expr) bool {
		return m.swapped(e, map[string]string{
			operators.Less: operators.Greater, operators.Greater: operators.Less,
			operators.LessEquals: operators.GreaterEquals, operators.GreaterEquals: operators.LessEquals,
		})
	}},
	{"De Morgan", (*maker).deMorgan},
	{"denied twice", (*maker).deniedTwice},
	{"comparison denied", (*maker).deniedComparison},
	{"variable renamed", (*maker).renamed},
	{"all and exists", (*maker).quantifier},
	{"choice written out", (*maker).choice},
	{"list in another order", (*maker).reordered},
	{"list written out", (*maker).writtenOut},
	{"size of", (*maker).size},
	{"brackets moved", (*maker).associated},
}

type maker struct {
	*rand.Rand
	ast.ExprFactory
	ids int64
}

func (m *maker) id() int64 { m.ids++; return m.ids }

func (m *maker) call(name string, args ...ast.Expr) ast.Expr { return m.NewCall(m.id(), name, args...) }

func (m *maker) not(e ast.Expr) ast.Expr {
	if isCall(e, operators.LogicalNot, 1) {
		return e.AsCall().Args()[0]
	}
	return m.call(operators.LogicalNot, e)
}

// become returns true. If other contains e itself, pass a copy.
func (m *maker) become(e, other ast.Expr) bool {
	e.SetKindCase(other)
	return true
}

func (m *maker) swapped(e ast.Expr, names map[string]string) bool {
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 || names[e.AsCall().FunctionName()] == "" {
		return false
	}
	args := e.AsCall().Args()
	return m.become(e, m.call(names[e.AsCall().FunctionName()], args[1], args[0]))
}

var dual = map[string]string{operators.LogicalAnd: operators.LogicalOr, operators.LogicalOr: operators.LogicalAnd}

func (m *maker) deMorgan(e ast.Expr) bool {
	inner, denied := e, isCall(e, operators.LogicalNot, 1)
	if denied {
		inner = e.AsCall().Args()[0]
	}
	if inner.Kind() != ast.CallKind || dual[inner.AsCall().FunctionName()] == "" {
		return false
	}
	args := inner.AsCall().Args()
	other := m.call(dual[inner.AsCall().FunctionName()], m.not(args[0]), m.not(args[1]))
	if denied {
		return m.become(e, other)
	}
	return m.become(e, m.call(operators.LogicalNot, other))
}

var opposite = map[string]string{
	operators.Equals: operators.NotEquals, operators.NotEquals: operators.Equals,
	operators.Less: operators.GreaterEquals, operators.GreaterEquals: operators.Less,
	operators.Greater: operators.LessEquals, operators.LessEquals: operators.Greater,
}

func (m *maker) deniedComparison(e ast.Expr) bool {
	if e.Kind() != ast.CallKind || opposite[e.AsCall().FunctionName()] == "" {
		return false
	}
	return m.become(e, m.call(operators.LogicalNot, m.call(opposite[e.AsCall().FunctionName()], e.AsCall().Args()...)))
}

func (m *maker) deniedTwice(e ast.Expr) bool {
	if e.Kind() != ast.CallKind || dual[e.AsCall().FunctionName()] == "" {
		return false
	}
	return m.become(e, m.call(operators.LogicalNot, m.call(operators.LogicalNot, m.CopyExpr(e))))
}

// macro returns the name and arguments of a macro call with one variable and two arguments.
func macro(e ast.Expr) (name string, args []ast.Expr, ok bool) {
	if e.Kind() != ast.CallKind || !e.AsCall().IsMemberFunction() {
		return "", nil, false
	}
	name, args = e.AsCall().FunctionName(), e.AsCall().Args()
	switch name {
	case "all", "exists", "exists_one", "map", "filter":
		return name, args, len(args) == 2 && args[0].Kind() == ast.IdentKind
	}
	return "", nil, false
}

func (m *maker) renamed(e ast.Expr) bool {
	_, args, ok := macro(e)
	if !ok {
		return false
	}
	old, name := args[0].AsIdent(), fmt.Sprintf("v%d", m.id())
	for _, n := range collect(args[1]) {
		if _, inner, ok := macro(n); ok && inner[0].AsIdent() == old {
			return false // the name is declared again
		}
	}
	for _, n := range collect(e) {
		if n.Kind() == ast.IdentKind && n.AsIdent() == old && !slices.Contains(collect(e.AsCall().Target()), n) {
			n.SetKindCase(m.NewIdent(n.ID(), name))
		}
	}
	return true
}

func (m *maker) quantifier(e ast.Expr) bool {
	name, args, ok := macro(e)
	other := map[string]string{"all": "exists", "exists": "all"}[name]
	if !ok || other == "" {
		return false
	}
	return m.become(e, m.call(operators.LogicalNot, m.NewMemberCall(m.id(), other, e.AsCall().Target(), args[0], m.not(args[1]))))
}

// choice rewrites a conditional if one of its results is certainly a bool, because the other is
// then a bool as well.
func (m *maker) choice(e ast.Expr) bool {
	if !isCall(e, operators.Conditional, 3) {
		return false
	}
	args := e.AsCall().Args()
	if !truth(args[1]) && !truth(args[2]) {
		return false
	}
	c := args[0]
	return m.become(e, m.call(operators.LogicalOr, m.call(operators.LogicalAnd, c, args[1]), m.call(operators.LogicalAnd, m.not(m.CopyExpr(c)), args[2])))
}

// truth reports whether an expression is certainly a bool.
func truth(e ast.Expr) bool {
	if e.Kind() == ast.LiteralKind {
		return e.AsLiteral().Type() == celtypes.BoolType
	}
	if e.Kind() != ast.CallKind {
		return false
	}
	name := e.AsCall().FunctionName()
	return dual[name] != "" || opposite[name] != "" || name == operators.LogicalNot || name == operators.In || name == "has" || name == "all" || name == "exists"
}

func constants(e ast.Expr) []ast.Expr {
	if !isCall(e, operators.In, 2) || e.AsCall().Args()[1].Kind() != ast.ListKind {
		return nil
	}
	list := e.AsCall().Args()[1].AsList()
	for _, item := range list.Elements() {
		if item.Kind() != ast.LiteralKind {
			return nil
		}
	}
	if len(list.OptionalIndices()) > 0 {
		return nil
	}
	return list.Elements()
}

func (m *maker) reordered(e ast.Expr) bool {
	items := append([]ast.Expr{}, constants(e)...)
	if len(items) < 2 {
		return false
	}
	m.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return m.become(e, m.call(operators.In, e.AsCall().Args()[0], m.NewList(m.id(), items, nil)))
}

func (m *maker) writtenOut(e ast.Expr) bool {
	items := constants(e)
	if len(items) == 0 || len(items) > 6 {
		return false
	}
	left := e.AsCall().Args()[0]
	out := m.call(operators.Equals, left, items[0])
	for _, item := range items[1:] {
		out = m.call(operators.LogicalOr, out, m.call(operators.Equals, m.CopyExpr(left), item))
	}
	return m.become(e, out)
}

func (m *maker) size(e ast.Expr) bool {
	switch {
	case e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "size":
		return false
	case e.AsCall().IsMemberFunction():
		return m.become(e, m.call("size", e.AsCall().Target()))
	}
	return m.become(e, m.NewMemberCall(m.id(), "size", e.AsCall().Args()[0]))
}

// associated replaces (a op b) op c by a op (b op c).
func (m *maker) associated(e ast.Expr) bool {
	if e.Kind() != ast.CallKind || dual[e.AsCall().FunctionName()] == "" {
		return false
	}
	name, args := e.AsCall().FunctionName(), e.AsCall().Args()
	if !isCall(args[0], name, 2) {
		return false
	}
	inner := args[0].AsCall().Args()
	return m.become(e, m.call(name, inner[0], m.call(name, inner[1], args[1])))
}
