package search

import (
	"context"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// An adjuster changes the values of a candidate, usually those that a rule reads at an instance. The
// rule is nil if only paths are changed.
type adjuster struct {
	ctx    context.Context
	s      *Search
	oracle *oracle
	m      *maker
	w      *candidate
	r      *rule
	in     instance
	wants  map[string]textWant
	// fuel is the number of steps that are left for the current change.
	fuel int
	// quiet disables trying sample values, because the caller does that itself.
	quiet bool
}

type scope struct {
	up   *scope
	name string
	of   binding
}

// A binding is the meaning of a variable: a value or a map key at a path, another part of the rule, an
// element of a computed list, or a value.
type binding struct {
	at   *handle
	from ast.Expr
	in   *scope
	val  ref.Val
	// list is a part that computes a list. The variable is its element at index.
	list  ast.Expr
	index int
}

// A handle identifies a value that can be set, or its key in a map.
type handle struct {
	objectPath
	key bool
}

func (s *scope) find(name string) *scope {
	for ; s != nil && s.name != name; s = s.up {
	}
	return s
}

func (s *scope) with(name string, of binding) *scope { return &scope{s, name, of} }

// bound returns the current value of a variable, which may be a CEL error. It returns nil if there is
// no such value or rules cannot read it.
func (b *adjuster) bound(of binding) ref.Val {
	switch {
	case of.at != nil && of.at.key:
		if _, ok := b.w.get(of.at.objectPath); !ok {
			return nil
		}
		return celtypes.String(of.at.path[len(of.at.path)-1].Name)
	case of.at != nil:
		v, ok := b.w.get(of.at.objectPath)
		if !ok || of.at.node.d == nil {
			return nil
		}
		return celvalue.New(v, of.at.node.d)
	case of.from != nil:
		return b.eval(of.from, of.in)
	case of.list != nil:
		if all := elementsOf(b.eval(of.list, of.in)); of.index < len(all) {
			return all[of.index]
		}
		return nil
	}
	return of.val
}

func (b *adjuster) eval(e ast.Expr, sc *scope) ref.Val {
	if e.Kind() == ast.LiteralKind {
		return e.AsLiteral()
	}
	b.fuel--
	b.oracle.evaluated++
	b.m.work.Spend(b.r.program.size(e))
	if b.m.work.Empty() {
		return celtypes.NewErr("%s", b.m.work.Reason())
	}
	self, ok := b.w.get(b.in.self)
	if !ok {
		return celtypes.NewErr("self is gone")
	}
	var before any
	if b.in.hasOld {
		before, _ = b.w.get(b.in.before)
	}
	v := b.r.program.parts.Value(b.ctx, e, self, before, func(name string) ref.Val {
		if at := sc.find(name); at != nil {
			return b.bound(at.of)
		}
		return nil
	})
	if list, ok := v.(traits.Lister); ok {
		if n, ok := list.Size().(celtypes.Int); ok {
			b.m.work.Spend(int(n))
		}
	}
	return v
}

func (b *adjuster) is(e ast.Expr, sc *scope, want bool) bool {
	return b.eval(e, sc) == celtypes.Bool(want)
}

func (b *adjuster) native(e ast.Expr, sc *scope) (any, bool) {
	v := b.eval(e, sc)
	if v == nil || celtypes.IsUnknownOrError(v) {
		return nil, false
	}
	return expr.Native(v), true
}

// spent uses one step of fuel and reports whether fuel or budget is used up.
func (b *adjuster) spent() bool {
	b.fuel--
	b.m.work.Spend(1 + len(b.in.self.path))
	return b.fuel < 0 || b.m.work.Empty()
}

// locate returns the handle that a part of the rule reads, whether or not it has a value. It returns false, for
// example, for a computed part.
func (b *adjuster) locate(e ast.Expr, sc *scope) (handle, bool) {
	if b.spent() {
		return handle{}, false
	}
	switch e.Kind() {
	case ast.IdentKind:
		return b.locateIdent(e.AsIdent(), sc)
	case ast.SelectKind:
		return b.locateField(e.AsSelect().Operand(), e.AsSelect().FieldName(), sc)
	case ast.CallKind:
		return b.locateCall(e.AsCall(), sc)
	}
	return handle{}, false
}

func (b *adjuster) locateIdent(name string, sc *scope) (handle, bool) {
	if at := sc.find(name); at != nil {
		return b.handleOf(at.of)
	}
	switch name {
	case types.Self:
		return handle{objectPath: b.in.self}, true
	case types.OldSelf:
		return handle{objectPath: b.in.before}, b.in.hasOld
	}
	return handle{}, false
}

func (b *adjuster) locateField(operand ast.Expr, ident string, sc *scope) (handle, bool) {
	h, ok := b.locate(operand, sc)
	if !ok || h.key {
		return handle{}, false
	}
	if d := h.node.d; d != nil && d.Kind == types.Object {
		f, ok := d.ByIdent(ident)
		if !ok {
			return handle{}, false
		}
		return handle{objectPath: h.field(f.Name)}, true
	}
	return handle{objectPath: h.field(ident)}, h.field(ident).node.known()
}

func (b *adjuster) locateCall(call ast.CallExpr, sc *scope) (handle, bool) {
	args := call.Args()
	switch call.FunctionName() {
	case operators.OptSelect:
		if name, ok := args[1].AsLiteral().(celtypes.String); ok {
			return b.locateField(args[0], string(name), sc)
		}
	case operators.Index, operators.OptIndex:
		return b.locateIndex(args[0], args[1], sc)
	case operators.Conditional:
		switch b.eval(args[0], sc) {
		case celtypes.True:
			return b.locate(args[1], sc)
		case celtypes.False:
			return b.locate(args[2], sc)
		}
	case "orValue", "or", "value", "optional.of", "optional.ofNonZeroValue", "dyn":
		return b.locate(operandOf(call), sc)
	}
	return handle{}, false
}

func (b *adjuster) locateIndex(of, index ast.Expr, sc *scope) (handle, bool) {
	at := b.eval(index, sc)
	if h, ok := b.locate(of, sc); ok && !h.key {
		switch at := at.(type) {
		case celtypes.Int:
			return handle{objectPath: h.item(int(at))}, h.node.isList() && at >= 0 && at < maxItems
		case celtypes.String:
			return handle{objectPath: h.field(string(at))}, true
		}
		return handle{}, false
	}
	if i, ok := at.(celtypes.Int); ok {
		if elements := b.elements(of, sc); i >= 0 && int(i) < len(elements) {
			return b.handleOf(elements[i])
		}
	}
	return handle{}, false
}

func (b *adjuster) handleOf(of binding) (handle, bool) {
	switch {
	case of.at != nil:
		return *of.at, true
	case of.from != nil:
		return b.locate(of.from, of.in)
	}
	return handle{}, false
}

func (b *adjuster) elements(e ast.Expr, sc *scope) (all []binding) {
	if b.spent() {
		return nil
	}
	if h, ok := b.locate(e, sc); ok && !h.key {
		return b.elementsAt(h.objectPath)
	}
	if e.Kind() == ast.ListKind {
		for _, item := range e.AsList().Elements() {
			all = append(all, binding{from: item, in: sc})
		}
		return all
	}
	if args := summands(e); args != nil {
		return append(b.elements(args[0], sc), b.elements(args[1], sc)...)
	}
	if l, ok := loopOf(e); ok {
		for _, of := range b.elements(l.Over, sc) {
			switch inner := l.enter(b, sc, of); {
			case l.Name == loops.Map:
				all = append(all, binding{from: l.Body, in: inner})
			case b.is(l.Body, inner, true):
				all = append(all, of)
			}
		}
		return all
	}
	for i := range elementsOf(b.eval(e, sc)) { // a function, such as split, computes the list
		all = append(all, binding{list: e, in: sc, index: i})
	}
	return all
}

// summands returns the operands of +, or nil for any other expression.
func summands(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Add {
		return nil
	}
	return e.AsCall().Args()
}

func (b *adjuster) elementsAt(p objectPath) (all []binding) {
	v, _ := b.w.get(p)
	for step := range valuediff.Children(v) {
		isKey := !step.Item
		if b.m.work.Spend(1); isKey {
			b.m.work.Spend(1)
		}
		all = append(all, binding{at: &handle{objectPath: p.step(step), key: isKey}})
	}
	return all
}
