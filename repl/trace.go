package repl

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	celtypes "github.com/google/cel-go/common/types"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine"
)

// Part is one value inside an expression.
type Part struct {
	// Text is the part as it was written, Depth how deep it stands.
	Text  string
	Depth int
	Value ref.Val
	// Cost is what the part and all in it cost, in CEL cost units.
	Cost uint64
	// Note tells which element of a list this is.
	Note string
	// Ran is false for what was not evaluated.
	Ran bool
}

// tracer arranges what an evaluation left at the nodes of an expression.
type tracer struct {
	source *source
	trace  *engine.Trace
	parts  []Part
	seen   map[string]bool
}

func newTracer(x *engine.Expr, t *engine.Trace) *tracer {
	return &tracer{source: newSource(x.Source(), x.AST()), trace: t, seen: map[string]bool{}}
}

// reasons are the values that made a boolean false: of && the false side, of a
// macro the element that decided.
func (t *tracer) reasons(e ast.Expr) []Part {
	t.parts = nil
	t.why(e, 0)
	return t.parts
}

// all is every node with its value and cost, outermost first.
func (t *tracer) all(e ast.Expr, depth int) []Part {
	v, cost, ok := t.trace.At(e)
	t.parts = append(t.parts, Part{Text: t.source.of(e), Depth: depth, Value: v, Cost: cost, Ran: ok})
	for _, child := range children(e) {
		if !simple(child) {
			t.all(child, depth+1)
		}
	}
	return t.parts
}

func (t *tracer) why(e ast.Expr, depth int) {
	if l, ok := loopOf(e); ok {
		t.element(e, l, depth)
		return
	}
	if e.Kind() != ast.CallKind || isIndex(e) {
		t.value(e, depth, "")
		return
	}
	args := operands(e)
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		for _, arg := range args {
			if v, _, ok := t.trace.At(arg); ok && v != celtypes.True {
				t.why(arg, depth)
			}
		}
	case operators.Conditional:
		t.why(args[0], depth)
		for _, branch := range args[1:] {
			if _, _, ok := t.trace.At(branch); ok {
				t.why(branch, depth)
			}
		}
	case operators.Equals:
		if t.difference(args, depth) {
			return
		}
		fallthrough
	default:
		for _, arg := range args {
			t.operand(arg, depth)
		}
	}
}

// difference shows where two objects or lists begin to differ; false where they
// are none.
func (t *tracer) difference(args []ast.Expr, depth int) bool {
	a, _, _ := t.trace.At(args[0])
	b, _, _ := t.trace.At(args[1])
	if a == nil || b == nil {
		return false
	}
	path, left, right := differ(Native(a), Native(b), nil)
	if len(path) == 0 || simple(args[0]) || simple(args[1]) {
		return false
	}
	for i, v := range []any{left, right} {
		text := t.source.of(args[i]) + "." + engine.FormatPath(path)
		t.add(Part{Text: strings.ReplaceAll(text, ".[", "["), Depth: depth, Value: celtypes.DefaultTypeAdapter.NativeToValue(v), Ran: true, Note: absent(v)})
	}
	return true
}

func absent(v any) string {
	if v == nil {
		return "not there"
	}
	return ""
}

// differ is the first path, by sorted keys, at which two values differ; "" where
// they do as a whole.
func differ(a, b any, at []engine.Step) (path []engine.Step, left, right any) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return at, a, b
		}
		keys := slices.Collect(maps.Keys(x))
		keys = slices.AppendSeq(keys, maps.Keys(y))
		slices.Sort(keys)
		for _, key := range keys {
			if !reflect.DeepEqual(x[key], y[key]) {
				return differ(x[key], y[key], append(at, engine.Step{Name: key}))
			}
		}
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return at, a, b
		}
		for i := range x {
			if !reflect.DeepEqual(x[i], y[i]) {
				return differ(x[i], y[i], append(at, engine.Step{Item: true, Index: i}))
			}
		}
	}
	return at, a, b
}

// operand is a value, and below it what it was made of.
func (t *tracer) operand(e ast.Expr, depth int) {
	if simple(e) {
		return
	}
	if e.Kind() == ast.CallKind && !isIndex(e) && isLogic(e) {
		t.why(e, depth)
		return
	}
	t.value(e, depth, "")
	for _, child := range children(e) {
		if e.Kind() != ast.ComprehensionKind {
			t.operand(child, depth+1)
		}
	}
}

func isLogic(e ast.Expr) bool {
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional:
		return true
	}
	return false
}

// element shows what decided a macro.
func (t *tracer) element(e ast.Expr, l loop, depth int) {
	over, _, ok := t.trace.At(l.over)
	if !ok {
		t.value(e, depth, "")
		return
	}
	size := sizeOf(over)
	step := e.AsComprehension().LoopStep()
	runs := t.trace.Runs(step)
	last, _, _ := t.trace.At(step)
	all := l.decides && step.AsCall().FunctionName() == operators.LogicalAnd
	switch {
	case size == 0:
		t.value(l.over, depth, "has no element")
	case all && last == celtypes.False:
		t.value(l.over, depth, "")
		t.add(Part{Text: l.variable, Depth: depth, Value: nth(over, runs-1), Ran: true, Note: fmt.Sprintf("element %d of %d", runs, size)})
		t.why(l.body, depth+1)
	case l.decides && !all && last != celtypes.True:
		t.value(l.over, depth, fmt.Sprintf("none of %s", count(size, "element")))
	default:
		t.value(l.over, depth, "")
		t.value(e, depth, "")
	}
}

func (t *tracer) value(e ast.Expr, depth int, note string) {
	v, cost, ok := t.trace.At(e)
	if text := t.source.of(e); ok && text != "" && !simple(e) {
		t.add(Part{Text: text, Depth: depth, Value: v, Cost: cost, Note: note, Ran: true})
	}
}

// add leaves out what was said already.
func (t *tracer) add(p Part) {
	key := fmt.Sprintf("%s\n%s\n%s", p.Text, Format(p.Value), p.Note)
	if !t.seen[key] && p.Value != nil {
		t.seen[key] = true
		t.parts = append(t.parts, p)
	}
}

func sizeOf(v ref.Val) int {
	if s, ok := v.(traits.Sizer); ok {
		if n, ok := s.Size().(celtypes.Int); ok {
			return int(n)
		}
	}
	return 0
}

// nth is the element that a macro binds in its nth turn.
func nth(v ref.Val, n int) ref.Val {
	if i, ok := v.(traits.Iterable); ok {
		for it := i.Iterator(); it.HasNext() == celtypes.True; n-- {
			element := it.Next()
			if n == 0 {
				return element
			}
		}
	}
	return nil
}
