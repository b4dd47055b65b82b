package vet

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
)

type exprPath struct {
	path string // as in the rule, such as "self.spec.hosts"
	decl *types.Decl
	// node is nil if the schema does not declare the path. decl is shared by paths with equal declarations.
	node *schema.Structural
	// above is the object that contains a field, or nil if the value is not a field.
	above *exprPath
	// name is the field's name in the schema, or the key of a map. It is "" for other elements.
	name string
	// from is the list or map that contains the element, or the element of a variable.
	from *exprPath
	// at is the path in an object, for self and oldSelf.
	at []engine.Step
	// elements is set if the value is any of several elements, so equal paths can mean different values.
	elements bool
}

type pathWalk struct {
	vars   map[string]*exprPath
	tested map[string]bool // by has() or an optional selection
}

func newPathWalk(r *rule, x *compiled) *pathWalk {
	self := exprPath{path: types.Self, decl: x.key.Decl, at: r.at.steps()}
	if r.at.scope != nil {
		self.node = r.at.scope.node
	}
	w := &pathWalk{vars: map[string]*exprPath{types.Self: &self}, tested: map[string]bool{}}
	if !x.key.Optional {
		old := self
		old.path = types.OldSelf
		w.vars[types.OldSelf] = &old
	}
	w.visit(x.ast.NativeRep().Expr(), func(e ast.Expr, at *exprPath) {
		if at != nil && e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() {
			w.tested[at.path] = true
		}
		if path := w.optional(e); path != "" {
			w.tested[path] = true
		}
	})
	return w
}

// An optional selection is, for example, self.?a or self.?a.b.
func (w *pathWalk) optional(e ast.Expr) string {
	switch e.Kind() {
	case ast.SelectKind:
		if above := w.optional(e.AsSelect().Operand()); above != "" {
			return above + "." + e.AsSelect().FieldName()
		}
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != operators.OptSelect {
			return ""
		}
		above := w.optional(call.Args()[0])
		if at := w.pathOf(call.Args()[0]); at != nil {
			above = at.path
		}
		if name, ok := call.Args()[1].AsLiteral().(celtypes.String); ok && above != "" {
			return above + "." + string(name)
		}
	}
	return ""
}

// f gets nil if the subexpression has no path.
func (w *pathWalk) visit(e ast.Expr, f func(ast.Expr, *exprPath)) {
	f(e, w.pathOf(e))
	if e.Kind() == ast.ComprehensionKind {
		w.loop(e.AsComprehension(), f)
		return
	}
	op, _ := operation(e)
	for i, part := range loops.Children(e) {
		if i == 0 || op != operators.OptSelect { // the second is the name of a field
			w.visit(part, f)
		}
	}
}

func (w *pathWalk) loop(loop ast.ComprehensionExpr, f func(ast.Expr, *exprPath)) {
	w.visit(loop.IterRange(), f)
	w.visit(loop.AccuInit(), f)
	w.within(loop, func() {
		w.visit(loop.LoopCondition(), f)
		w.visit(loop.LoopStep(), f)
		w.visit(loop.Result(), f)
	})
}

func (w *pathWalk) within(loop ast.ComprehensionExpr, f func()) {
	outer, elem := w.vars, w.element(loop.IterRange())
	w.vars = maps.Clone(outer)
	w.vars[loop.AccuVar()] = nil
	if loop.IterVar2() != "" {
		w.vars[loop.IterVar()], w.vars[loop.IterVar2()] = nil, named(elem, loop.IterVar2())
	} else {
		w.vars[loop.IterVar()] = named(elem, loop.IterVar())
	}
	f()
	w.vars = outer
}

// element returns nil for a map, because the variable of a loop over a map is a key.
func (w *pathWalk) element(e ast.Expr) *exprPath {
	if p := w.pathOf(e); p != nil && p.decl.Kind == types.List {
		return p.element()
	}
	return nil
}

func (p *exprPath) element() *exprPath {
	elem := &exprPath{path: p.path + "[…]", decl: p.decl.Elem, elements: true, from: p}
	switch {
	case p.node == nil:
	case p.node.Items != nil:
		elem.node = p.node.Items
	case p.node.AdditionalProperties != nil:
		elem.node = p.node.AdditionalProperties.Structural
	}
	return elem
}

// A loop variable is the same element throughout an iteration.
func named(p *exprPath, name string) *exprPath {
	if p == nil {
		return nil
	}
	return &exprPath{path: name, decl: p.decl, node: p.node, name: p.name, from: p}
}

func (p *exprPath) field(ident string) *exprPath {
	f, ok := p.decl.ByIdent(ident)
	if !ok {
		return nil
	}
	below := &exprPath{path: p.path + "." + f.Escaped, decl: f.Decl, above: p, name: f.Name, elements: p.elements}
	if p.node != nil {
		if s, ok := p.node.Properties[f.Name]; ok {
			below.node = &s
		}
	}
	return below
}

func (w *pathWalk) pathOf(e ast.Expr) *exprPath {
	switch e.Kind() {
	case ast.IdentKind:
		return w.vars[e.AsIdent()]
	case ast.SelectKind:
		if above := w.pathOf(e.AsSelect().Operand()); above != nil && above.decl != nil && above.decl.Kind == types.Object {
			return above.field(e.AsSelect().FieldName())
		}
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != operators.Index {
			return nil
		}
		if above := w.pathOf(call.Args()[0]); above != nil && (above.decl.Kind == types.List || above.decl.Kind == types.Map) {
			elem := above.element()
			if key := call.Args()[1]; key.Kind() == ast.LiteralKind {
				elem.name, _ = key.AsLiteral().Value().(string)
			}
			return elem
		}
	}
	return nil
}

// fieldOf differs from pathOf for has(), whose value is not the field's.
func (w *pathWalk) fieldOf(e ast.Expr) *exprPath {
	if isHas(e) {
		return nil
	}
	return w.pathOf(e)
}

// Elements are [*].
func (p *exprPath) steps() []engine.Step {
	switch {
	case p.above != nil:
		return append(p.above.steps(), engine.Step{Name: p.name})
	case p.from != nil && p.elements:
		return append(p.from.steps(), engine.Step{Any: true})
	case p.from != nil:
		return p.from.steps()
	}
	return slices.Clone(p.at)
}

func (p *exprPath) fieldName() string {
	for ; p != nil; p = p.from {
		if p.name != "" {
			return p.name
		}
		for _, step := range slices.Backward(p.at) {
			if step.Name != "" {
				return step.Name
			}
		}
	}
	return ""
}

func (p *exprPath) root() *exprPath {
	for {
		switch {
		case p.above != nil:
			p = p.above
		case p.from != nil:
			p = p.from
		default:
			return p
		}
	}
}

// messageLimits finds messageExpressions that can exceed a limit at run time. The server then uses message instead,
// or stops the validation.
func messageLimits(in *inspection) *Lint {
	m := in.message
	if !m.accepted() {
		return nil
	}
	if m.cost.Max > celconfig.PerCallLimit {
		return &Lint{Message: fmt.Sprintf("messageExpression may cost %s units, but one evaluation may cost only %s; over this limit, the server stops all validation: remove unbounded values, or set bounds for them", phrase.Number(m.cost.Max), phrase.Number(celconfig.PerCallLimit))}
	}
	w := newPathWalk(in.rule, m)
	if n := length(w, m.ast.NativeRep().Expr()); n > celconfig.MaxEvaluatedMessageExpressionSizeBytes {
		size := "of any length"
		if n < math.MaxUint64 {
			size = fmt.Sprintf("of up to %s bytes", phrase.Number(n))
		}
		return &Lint{Message: fmt.Sprintf("messageExpression can produce a string %s, but only %s bytes are allowed; over this limit, the server shows the message instead: remove long values, or set bounds for them", size, phrase.Number(celconfig.MaxEvaluatedMessageExpressionSizeBytes))}
	}
	return nil
}

// Unknown calls count as 0.
func length(w *pathWalk, e ast.Expr) uint64 {
	switch e.Kind() {
	case ast.LiteralKind:
		if s, ok := e.AsLiteral().(celtypes.String); ok {
			return uint64(len(s))
		}
	case ast.CallKind:
		call := e.AsCall()
		args := call.Args()
		switch call.FunctionName() {
		case operators.Add:
			return cost.Add(length(w, args[0]), length(w, args[1]))
		case operators.Conditional:
			return max(length(w, args[1]), length(w, args[2]))
		case "string":
			return length(w, args[0])
		case "join":
			if !call.IsMemberFunction() {
				return 0
			}
			if list := w.pathOf(call.Target()); list != nil && list.decl.Kind == types.List && list.decl.Elem.Kind == types.String {
				return cost.Mul(size(list.decl), size(list.decl.Elem))
			}
		}
	}
	if at := w.pathOf(e); at != nil && (at.decl.Kind == types.String || at.decl.Kind == types.IntOrString) {
		return size(at.decl)
	}
	return 0
}

func size(d *types.Decl) uint64 {
	if d.Max.Source == types.Assumed {
		return math.MaxUint64
	}
	return uint64(d.Max.Max)
}
