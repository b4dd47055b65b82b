package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types/path"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// Part is a part of an expression with its value, if it was evaluated.
type Part struct {
	// Text is the source of the part, and Depth its nesting depth.
	Text  string
	Depth int
	Value ref.Val
	// Cost is the cost of the part including its operands, in CEL cost units.
	Cost uint64
	// At is the path of a macro's element in its list, such as "self.env[1]", or "" for any other
	// part. Note is a remark about the part.
	At, Note string
	// Step is set for an intermediate value, computed from the object on the way to the compared values.
	Step bool
	// Ran is set if the part was evaluated.
	Ran bool
}

// Tree returns the parts of the expression with their values and costs, outermost first, until the
// budget is used up. It omits literals and lists and maps of literals below the root.
func (t *Trace) Tree() []Part {
	var parts []Part
	var all func(e ast.Expr, depth int)
	all = func(e ast.Expr, depth int) {
		v, units, ok := t.at(e)
		if !t.budget.part(t.program.perPart) {
			return
		}
		parts = append(parts, Part{Text: t.program.source.Of(e), Depth: depth, Value: t.shown(v), Cost: units, Ran: ok})
		for _, child := range children(e) {
			if !simple(child) {
				all(child, depth+1)
			}
		}
	}
	all(t.program.root(), 0)
	return parts
}

// Why returns the values that determined the result: the false side of &&, the element that ended a macro, and the
// compared values with their operands. It stops when the budget is used up.
func (t *Trace) Why() []Part {
	w := &why{Trace: t, bound: map[string]ref.Val{}, seen: map[string]bool{}}
	w.decide(t.program.root(), 0)
	return w.parts
}

type why struct {
	*Trace
	bound map[string]ref.Val
	seen  map[string]bool
	parts []Part
}

// Variables of macros and selections from them have a value without being evaluated separately.
func (w *why) value(e ast.Expr) ref.Val {
	if v, _, ok := w.at(e); ok {
		return v
	}
	return w.link(e)
}

// link evaluates selections and indexes from the start of their chain. It returns nil if a link has no value.
func (w *why) link(e ast.Expr) ref.Val {
	if e.Kind() == ast.IdentKind {
		if v, ok := w.bound[e.AsIdent()]; ok {
			return v
		}
		v, _ := w.vars.ResolveName(e.AsIdent())
		found, _ := v.(ref.Val)
		return found
	}
	operand := chained(e)
	if operand == nil {
		v, _, _ := w.at(e)
		return v
	}
	var key ref.Val
	switch {
	case e.Kind() == ast.SelectKind:
		key = celtypes.String(e.AsSelect().FieldName())
	case e.AsCall().FunctionName() == operators.Index:
		key = w.value(e.AsCall().Args()[1])
	}
	from, ok := w.link(operand).(traits.Indexer)
	if !ok || key == nil {
		return nil
	}
	if v := from.Get(key); !celtypes.IsUnknownOrError(v) {
		return v
	}
	return nil
}

func (w *why) decide(e ast.Expr, depth int) {
	switch {
	case e.Kind() == ast.ComprehensionKind:
		w.loop(e, depth)
		return
	case e.Kind() != ast.CallKind:
		w.operand(e, depth)
		return
	}
	args := loops.Children(e)
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd:
		w.either(e, args, celtypes.False, depth)
	case operators.LogicalOr:
		w.either(e, args, celtypes.True, depth)
	case operators.LogicalNot, operators.NotStrictlyFalse:
		w.decide(args[0], depth)
	case operators.Conditional:
		w.decide(args[0], depth)
		switch w.value(args[0]) {
		case celtypes.True:
			w.decide(args[1], depth)
		case celtypes.False:
			w.decide(args[2], depth)
		}
	case operators.Equals, operators.NotEquals:
		if !w.difference(args, depth) {
			w.operandsOf(args, depth)
		}
	default:
		w.operandsOf(args, depth)
	}
}

// either descends to the first operand that determines the result alone, or else to all operands. If the whole
// failed, it descends only to operands that failed. It omits presence tests next to other conditions.
func (w *why) either(e ast.Expr, args []ast.Expr, alone ref.Val, depth int) {
	whole := w.value(e)
	telling := slices.DeleteFunc(slices.Clone(args), func(arg ast.Expr) bool {
		v := w.value(arg)
		switch {
		case v == nil:
			return true
		case whole == alone:
			return v != alone
		case celtypes.IsError(whole):
			return !celtypes.IsError(v)
		}
		return false
	})
	if whole == alone && len(telling) > 1 {
		telling = telling[:1]
	}
	if rest := slices.DeleteFunc(slices.Clone(telling), presence); len(rest) > 0 {
		telling = rest
	}
	for _, arg := range telling {
		w.decide(arg, depth)
	}
}

// presence reports whether e is has(x) or !has(x), which explain little next to other conditions.
func presence(e ast.Expr) bool {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.LogicalNot {
		e = e.AsCall().Args()[0]
	}
	return e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly()
}

func (w *why) operandsOf(args []ast.Expr, depth int) {
	for _, arg := range args {
		w.operand(arg, depth)
	}
}

// operand adds the value of e, followed by the values that it was computed from.
func (w *why) operand(e ast.Expr, depth int) {
	if w.program.constant(e) {
		return
	}
	v := w.value(e)
	failed := v == nil || celtypes.IsUnknownOrError(v)
	switch {
	case failed && e.Kind() == ast.ComprehensionKind:
		w.loop(e, depth)
		return
	case failed && chained(e) != nil:
		w.operand(chained(e), depth)
	case failed && e.Kind() == ast.SelectKind:
		w.operand(e.AsSelect().Operand(), depth)
	case e.Kind() == ast.ListKind || e.Kind() == ast.MapKind:
		w.operandsOf(children(e), depth)
		return
	case !failed:
		made := e.Kind() == ast.CallKind && !isIndex(e) || e.Kind() == ast.ComprehensionKind
		w.add(e, Part{Depth: depth, Value: v, Step: made && depth > 0})
		depth++
	}
	for _, child := range children(e) {
		if l, ok := loops.Of(e); !ok || child.ID() != l.Body.ID() {
			w.operand(child, depth)
		}
	}
}

// loop adds the element that ended all or exists or made a macro fail, and the reason. For other
// macros, it adds the list or map.
func (w *why) loop(e ast.Expr, depth int) {
	l, ok := loops.Of(e)
	if !ok {
		w.operandsOf(children(e), depth)
		return
	}
	over, v := w.value(l.Over), w.value(e)
	step := e.AsComprehension().LoopStep().ID()
	failed := celtypes.IsError(v) && w.record.RewindToFailure(step)
	number, vars := w.record.Element(step)
	size := sizeOf(over)
	switch {
	case over == nil:
	case number > 0 && (failed || l.Settled != nil && v == l.Settled):
		w.element(l, number, size, vars, depth)
		return
	case w.program.constant(l.Over):
		return
	case size == 0:
		w.add(l.Over, Part{Depth: depth, Value: over, Note: "has no element"})
		return
	case l.Settled == celtypes.True && v == celtypes.False:
		w.add(l.Over, Part{Depth: depth, Value: over, Note: fmt.Sprintf("all %d absent", size)})
		return
	}
	w.operand(l.Over, depth)
}

func (w *why) element(l loops.Loop, number, size int, values map[string]ref.Val, depth int) {
	_, isList := w.value(l.Over).(traits.Lister)
	element := Part{Text: l.Variable, Depth: depth, Value: values[l.Variable], Note: fmt.Sprintf("element %d of %d", number, size)}
	if isList {
		element.At = fmt.Sprintf("%s[%d]", w.program.source.Of(l.Over), number-1)
	}
	if l.Index != "" {
		w.part(Part{Text: l.Index, Depth: depth, Value: values[l.Index]})
	}
	w.part(element)
	outer := maps.Clone(w.bound)
	maps.Copy(w.bound, values)
	w.decide(l.Body, depth+1)
	w.bound = outer
}

// difference adds the first difference inside two objects or lists, and reports whether it found one.
func (w *why) difference(args []ast.Expr, depth int) bool {
	a, b := w.value(args[0]), w.value(args[1])
	if a == nil || b == nil || simple(args[0]) || simple(args[1]) {
		return false
	}
	var first valuediff.Change
	for first = range valuediff.Values(expr.Native(w.shown(a)), expr.Native(w.shown(b))) {
		break
	}
	if len(first.Path) == 0 {
		return false
	}
	for i, v := range []any{first.Before, first.After} {
		text := w.program.source.Of(args[i]) + "." + path.Format(first.Path)
		part := Part{Text: strings.ReplaceAll(text, ".[", "["), Depth: depth, Value: celtypes.DefaultTypeAdapter.NativeToValue(v)}
		if v == nil {
			part.Note = "not there"
		}
		w.part(part)
	}
	return true
}

// add omits nodes without source, which macros generate.
func (w *why) add(e ast.Expr, p Part) {
	if !w.budget.part(w.program.perPart) {
		return
	}
	if p.Text = w.program.source.Of(e); p.Text != "" {
		_, p.Cost, _ = w.at(e)
		w.part(p)
	}
}

func (w *why) part(p Part) {
	key := p.Text + "\n" + p.At
	if p.Value == nil || w.seen[key] || w.seen[p.Text+"\n"] && p.At == "" {
		return
	}
	w.seen[key] = true
	if p.At != "" {
		w.seen[p.Text+"\n"] = true // the variable alone adds no information
	}
	p.Ran, p.Value = true, w.shown(p.Value)
	w.parts = append(w.parts, p)
}

func sizeOf(v ref.Val) int {
	if s, ok := v.(traits.Sizer); ok {
		if n, ok := s.Size().(celtypes.Int); ok {
			return int(n)
		}
	}
	return 0
}

// maxNative limits the size in bytes of a value to show.
const maxNative = 4 << 20

const tooLarge = "(too large to show)"

func (t *Trace) shown(v ref.Val) ref.Val {
	if v == nil {
		return nil
	}
	bytes, fits := eval.TextSize(v, t.budget.bytes())
	if t.budget.show(bytes, fits); !fits {
		return celtypes.String(tooLarge)
	}
	return v
}
