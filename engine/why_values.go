package engine

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/celadon-cel/celadon/types"
)

// tracked is a rule that remembers the values of its parts.
type tracked struct {
	ast      *cel.Ast
	prog     cel.Program
	optional bool
}

// run evaluates the rule once more, with cel-go's own interpreter, and picks
// the parts that decided.
func (t *tracked) run(d *types.Decl, self, old any) (*Why, error) {
	vars := map[string]any{types.Self: types.Value(self, d)}
	switch {
	case t.optional && old == nil:
		vars[types.OldSelf] = celtypes.OptionalNone
	case t.optional:
		vars[types.OldSelf] = celtypes.OptionalOf(types.Value(old, d))
	case old != nil:
		vars[types.OldSelf] = types.Value(old, d)
	}
	activation, err := interpreter.NewActivation(vars)
	if err != nil {
		return nil, err
	}
	rec := &loopRecorder{activation, map[int64]*element{}}
	_, details, err := t.prog.Eval(rec)
	if details == nil || details.State() == nil {
		return nil, err
	}
	native := t.ast.NativeRep()
	p := &parts{state: details.State(), info: native.SourceInfo(), vars: vars, loops: rec.last, seen: map[string]bool{}}
	p.decide(native.Expr())
	return &Why{Rule: t.ast.Source().Content(), Values: p.out}, nil
}

// parts collects the parts of an expression that decided its value.
type parts struct {
	state interpreter.EvalState
	info  *ast.SourceInfo
	vars  map[string]any
	loops map[int64]*element
	seen  map[string]bool
	out   []WhyValue
}

func (p *parts) value(e ast.Expr) (ref.Val, bool) {
	if e.Kind() == ast.LiteralKind {
		return e.AsLiteral(), true
	}
	v, ok := p.state.Value(e.ID())
	if !ok && e.Kind() == ast.IdentKind {
		v, ok = p.vars[e.AsIdent()].(ref.Val)
	}
	return v, ok && v != nil
}

// decide goes down to the comparisons that made a condition what it is.
func (p *parts) decide(e ast.Expr) {
	if e.Kind() == ast.ComprehensionKind {
		p.loop(e)
		return
	}
	if e.Kind() != ast.CallKind {
		p.operand(e)
		return
	}
	call := e.AsCall()
	switch call.FunctionName() {
	case operators.LogicalAnd:
		p.either(e, call.Args(), celtypes.False)
	case operators.LogicalOr:
		p.either(e, call.Args(), celtypes.True)
	case operators.LogicalNot:
		p.decide(call.Args()[0])
	case operators.Conditional:
		p.decide(call.Args()[0])
		switch cond, _ := p.value(call.Args()[0]); cond {
		case celtypes.True:
			p.decide(call.Args()[1])
		case celtypes.False:
			p.decide(call.Args()[2])
		}
	default:
		p.operands(call)
	}
}

// either shows the one operand that alone decides, where it does, or else all.
func (p *parts) either(e ast.Expr, args []ast.Expr, alone ref.Val) {
	if v, _ := p.value(e); v != nil && v != alone && !celtypes.IsError(v) {
		telling := slices.DeleteFunc(slices.Clone(args), presence)
		if len(telling) == 0 {
			telling = args
		}
		for _, arg := range telling {
			p.decide(arg)
		}
		return
	}
	for _, arg := range args {
		if v, ok := p.value(arg); ok && (v == alone || celtypes.IsError(v)) {
			p.decide(arg)
			return
		}
	}
}

// presence is true for has(x) and !has(x), which beside others say little.
func presence(e ast.Expr) bool {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.LogicalNot {
		e = e.AsCall().Args()[0]
	}
	return e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly()
}

func (p *parts) operands(call ast.CallExpr) {
	if call.IsMemberFunction() {
		p.operand(call.Target())
	}
	for _, arg := range call.Args() {
		p.operand(arg)
	}
}

// operand shows a value and the variables that it was made of.
func (p *parts) operand(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		p.show(e)
	case ast.SelectKind:
		if v, ok := p.value(e); !ok || celtypes.IsError(v) {
			p.operand(e.AsSelect().Operand())
			return
		}
		p.show(e)
	case ast.CallKind, ast.ComprehensionKind:
		if !constant(e) {
			p.show(e)
			p.variables(e)
		}
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			p.operand(item)
		}
	}
}

func constant(e ast.Expr) bool {
	idents := ast.MatchDescendants(ast.NavigateExpr(nil, e), ast.KindMatcher(ast.IdentKind))
	return len(idents) == 0
}

// variables shows what a value was made of, and no step between.
func (p *parts) variables(e ast.Expr) {
	switch e.Kind() {
	case ast.CallKind:
		call := e.AsCall()
		args := call.Args()
		if call.FunctionName() == operators.Index {
			args = args[1:] // what it is taken from may be large
		}
		if call.IsMemberFunction() {
			p.variables(call.Target())
		}
		for _, arg := range args {
			p.variables(arg)
		}
	case ast.ComprehensionKind:
		p.variables(e.AsComprehension().IterRange())
	default:
		p.operand(e)
	}
}

// loop shows the element that decided an all or exists, and why; of any other
// loop what it went over.
func (p *parts) loop(e ast.Expr) {
	c := e.AsComprehension()
	v, _ := p.value(e)
	macro, ok := p.info.GetMacroCall(e.ID())
	name := ""
	if ok && macro.Kind() == ast.CallKind {
		name = macro.AsCall().FunctionName()
	}
	if !(name == operators.All && v == celtypes.False) && !(name == operators.Exists && v == celtypes.True) {
		p.operand(c.IterRange())
		return
	}
	condition := conditionOf(c)
	if at := p.loops[condition.ID()]; at != nil {
		p.element(c, at)
	}
	p.decide(condition)
}

// element shows the variables of a loop at the element that ended it.
func (p *parts) element(c ast.ComprehensionExpr, at *element) {
	label := c.IterVar()
	if list, _ := p.value(c.IterRange()); list != nil && !c.HasIterVar2() {
		if _, ok := list.(traits.Lister); ok {
			label = fmt.Sprintf("%s (%s[%d])", label, p.text(c.IterRange()), at.index)
		}
	}
	p.add(label, at.values[c.IterVar()])
	p.seen[c.IterVar()] = true
	if c.HasIterVar2() {
		p.add(c.IterVar2(), at.values[c.IterVar2()])
	}
}

func (p *parts) text(e ast.Expr) string {
	text, err := cel.ExprToString(e, p.info)
	if err != nil {
		return ""
	}
	return text
}

func (p *parts) show(e ast.Expr) {
	if v, ok := p.value(e); ok {
		p.add(p.text(e), v)
	}
}

func (p *parts) add(label string, v ref.Val) {
	if label == "" || v == nil || p.seen[label] || celtypes.IsUnknownOrError(v) {
		return
	}
	p.seen[label] = true
	p.out = append(p.out, WhyValue{label, whyValue(v)})
}

// whyValue is a CEL value in the form of decoded JSON.
func whyValue(v ref.Val) any {
	switch v := v.(type) {
	case celtypes.Null:
		return nil
	case celtypes.Bool, celtypes.String, celtypes.Int, celtypes.Double, celtypes.Uint:
		return v.Value()
	case *celtypes.Optional:
		if !v.HasValue() {
			return nil
		}
		return whyValue(v.GetValue())
	case traits.Mapper:
		if fields, ok := v.Value().(map[string]any); ok {
			return fields
		}
		out := map[string]any{}
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			key := it.Next()
			out[fmt.Sprint(key.Value())] = whyValue(v.Get(key))
		}
		return out
	case traits.Lister:
		out := []any{}
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			out = append(out, whyValue(it.Next()))
		}
		return out
	}
	if text, ok := v.ConvertToType(celtypes.StringType).(celtypes.String); ok {
		return string(text)
	}
	return fmt.Sprint(v.Value())
}
