package mutation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/cel/loops"
)

const (
	opComparison = "comparison"
	opArithmetic = "arithmetic"
	opJunction   = "and/or"
	opNegation   = "negation"
	opDropped    = "dropped operand"
	opQuantifier = "quantifier"
	opPresence   = "has"
	opConstant   = "constant"
	opFunction   = "function"
	opBranch     = "branch"
	opFieldPath  = "fieldPath"
	opRemoved    = "removed rule"
)

// edit is a replacement in a rule's source. Offsets are in code points.
type edit struct {
	operator   string
	start, end int
	text       string
}

type rewriter struct {
	text   []rune
	tokens []lex.Token
	at     map[int]int // token index by start
	source *lex.Source
	info   *ast.SourceInfo
	edits  []edit
	more   bool // edits were omitted
}

// maxEdits limits the mutants of a rule. Further mutants add little information.
const maxEdits = 200

func edits(checked *cel.Ast, src string) (all []edit, more bool) {
	w := &rewriter{text: []rune(src), at: map[int]int{}, source: lex.NewSource(src, checked), info: checked.NativeRep().SourceInfo()}
	w.tokens = lex.Tokens(w.text)
	for i, t := range w.tokens {
		w.at[t.Start] = i
	}
	root := checked.NativeRep().Expr()
	w.negate(root)
	w.expr(root)
	seen := map[string]bool{src: true}
	for _, e := range w.edits {
		if text := e.apply(src); !seen[text] {
			seen[text] = true
			all = append(all, e)
		}
	}
	return all[:min(len(all), maxEdits)], w.more || len(all) > maxEdits
}

func (e *edit) apply(src string) string {
	text := []rune(src)
	return string(text[:e.start]) + e.text + string(text[e.end:])
}

func (w *rewriter) add(operator string, start, end int, text string) {
	if w.more = len(w.edits) == 4*maxEdits; !w.more {
		w.edits = append(w.edits, edit{operator, start, end, text})
	}
}

func (w *rewriter) swap(operator string, e ast.Expr, original, replacement string) {
	o, ok := w.info.GetOffsetRange(e.ID())
	if !ok {
		return
	}
	i, ok := w.at[int(o.Start)]
	for ok && i > 0 && w.tokens[i].Text == "(" { // the offset of a call is its parenthesis
		i--
	}
	if ok && w.tokens[i].Text == original {
		w.add(operator, w.tokens[i].Start, w.tokens[i].End, replacement)
	}
}

// span returns the range of a node, including the parentheses around it.
func (w *rewriter) span(e ast.Expr) (start, end int, ok bool) {
	start, end, ok = w.source.Range(e)
	if !ok {
		return 0, 0, false
	}
	first, last := w.at[start], w.at[start]
	for last+1 < len(w.tokens) && w.tokens[last].End < end {
		last++
	}
	for first > 0 && last+1 < len(w.tokens) && w.tokens[first-1].Text == "(" && w.tokens[last+1].Text == ")" && (first < 2 || !lex.EndsOperand(w.tokens[first-2])) {
		first, last = first-1, last+1
	}
	return w.tokens[first].Start, w.tokens[last].End, true
}

func (w *rewriter) replace(operator string, e ast.Expr, text string) {
	if start, end, ok := w.source.Range(e); ok {
		w.add(operator, start, end, text)
	}
}

// negate adds the negation of a condition, unless other edits have that effect.
func (w *rewriter) negate(e ast.Expr) {
	if e.Kind() == ast.CallKind {
		switch e.AsCall().FunctionName() {
		case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional,
			operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
			return
		}
	}
	if start, end, ok := w.source.Range(e); ok && e.Kind() != ast.LiteralKind {
		w.add(opNegation, start, end, "!("+string(w.text[start:end])+")")
	}
}

func (w *rewriter) expr(e ast.Expr) {
	switch e.Kind() {
	case ast.LiteralKind:
		w.literal(e)
	case ast.CallKind:
		w.call(e)
	case ast.ListKind:
		w.list(e)
	case ast.ComprehensionKind:
		w.macro(e)
	default:
		if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() {
			w.replace(opPresence, e, "true")
		}
		w.children(e)
	}
}

func (w *rewriter) children(e ast.Expr) {
	for _, child := range loops.Children(e) {
		w.expr(child)
	}
}

var swaps = map[string]struct{ operator, token, others string }{
	operators.Equals: {opComparison, "==", "!="}, operators.NotEquals: {opComparison, "!=", "=="},
	operators.Less: {opComparison, "<", "<= >="}, operators.LessEquals: {opComparison, "<=", "< >"},
	operators.Greater: {opComparison, ">", ">= <"}, operators.GreaterEquals: {opComparison, ">=", "> <="},
	operators.Add: {opArithmetic, "+", "-"}, operators.Subtract: {opArithmetic, "-", "+"},
	operators.Multiply: {opArithmetic, "*", "/"}, operators.Divide: {opArithmetic, "/", "*"}, operators.Modulo: {opArithmetic, "%", "*"},
	"startsWith": {opFunction, "startsWith", "endsWith"}, "endsWith": {opFunction, "endsWith", "startsWith"},
	"contains": {opFunction, "contains", "startsWith"},
}

func (w *rewriter) call(e ast.Expr) {
	call := e.AsCall()
	name := call.FunctionName()
	switch {
	case name == operators.LogicalAnd || name == operators.LogicalOr:
		w.junction(e, name)
		return
	case name == operators.LogicalNot:
		if start, end, ok := w.source.Range(call.Args()[0]); ok {
			if from, to, ok := w.source.Range(e); ok {
				w.add(opNegation, from, to, "("+string(w.text[start:end])+")")
			}
		}
	case name == operators.Conditional && w.source.Token(e) == "?":
		w.choice(e)
	default:
		for _, other := range strings.Fields(swaps[name].others) {
			w.swap(swaps[name].operator, e, swaps[name].token, other)
		}
	}
	w.children(e)
}

func (w *rewriter) junction(e ast.Expr, name string) {
	was, becomes := "&&", "||"
	if name == operators.LogicalOr {
		was, becomes = becomes, was
	}
	terms := flat(e, name, func(e ast.Expr) { w.swap(opJunction, e, was, becomes) }, nil)
	type span struct{ start, end int }
	var spans []span
	for _, term := range terms {
		start, end, ok := w.span(term)
		if !ok {
			spans = nil
			break
		}
		spans = append(spans, span{start, end})
	}
	for i := range spans {
		if i == 0 {
			w.add(opDropped, spans[0].start, spans[1].start, "")
		} else {
			w.add(opDropped, spans[i-1].end, spans[i].end, "")
		}
	}
	for _, term := range terms {
		w.negate(term)
		w.expr(term)
	}
}

func flat(e ast.Expr, name string, each func(ast.Expr), terms []ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != name {
		return append(terms, e)
	}
	args := e.AsCall().Args()
	terms = flat(args[0], name, each, terms)
	each(e)
	return flat(args[1], name, each, terms)
}

func (w *rewriter) choice(e ast.Expr) {
	from, to, ok := w.span(e)
	if !ok {
		return
	}
	for _, branch := range e.AsCall().Args()[1:] {
		if start, end, ok := w.span(branch); ok && start >= from && end <= to {
			w.add(opBranch, from, to, "("+string(w.text[start:end])+")")
		}
	}
}

func (w *rewriter) list(e ast.Expr) {
	items := e.AsList().Elements()
	for i, item := range items {
		if item.Kind() != ast.LiteralKind {
			w.expr(item)
			continue
		}
		start, end, ok := w.literalSpan(item)
		switch {
		case !ok || len(items) == 1:
		case i > 0:
			if _, before, ok := w.literalSpan(items[i-1]); ok {
				w.add(opConstant, before, end, "")
			}
		default:
			if next, _, ok := w.literalSpan(items[1]); ok {
				w.add(opConstant, start, next, "")
			}
		}
	}
}

// literalSpan returns the range of a constant, including its sign.
func (w *rewriter) literalSpan(e ast.Expr) (start, end int, ok bool) {
	start, end, ok = w.source.Range(e)
	if i := w.at[start]; ok && w.tokens[i].Text == "-" && i+1 < len(w.tokens) {
		end = w.tokens[i+1].End
	}
	return start, end, ok
}

func (w *rewriter) literal(e ast.Expr) {
	start, end, ok := w.literalSpan(e)
	if !ok {
		return
	}
	switch v := e.AsLiteral().(type) {
	case celtypes.Bool:
		w.add(opConstant, start, end, strconv.FormatBool(!bool(v)))
	case celtypes.Int:
		if v < 1<<62 && v > -1<<62 {
			w.add(opConstant, start, end, fmt.Sprint(int64(v)+1))
			w.add(opConstant, start, end, fmt.Sprint(int64(v)-1))
		}
	case celtypes.String:
		if v == "" {
			w.add(opConstant, start, end, `"x"`)
		} else {
			w.add(opConstant, start, end, `""`)
		}
	}
}

func (w *rewriter) macro(e ast.Expr) {
	for _, q := range [...][2]string{{"all", "exists"}, {"exists", "all"}, {"exists_one", "exists"}, {"existsOne", "exists"}} {
		w.swap(opQuantifier, e, q[0], q[1])
	}
	x := e.AsComprehension()
	w.expr(x.IterRange())
	step := x.LoopStep()
	if x.IterRange().Kind() == ast.ListKind && x.IterRange().AsList().Size() == 0 {
		w.expr(x.AccuInit())
		w.expr(x.Result()) // the body of optMap
		return
	}
	if step.Kind() != ast.CallKind {
		w.expr(step)
		return
	}
	switch args := step.AsCall().Args(); step.AsCall().FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		w.negate(args[1])
		w.expr(args[1])
	case operators.Conditional:
		w.negate(args[0])
		w.expr(args[0])
		w.item(args[1])
	default:
		w.item(step)
	}
}

// item visits the elements that a macro adds to a list. Other parts are generated by the macro's
// expansion.
func (w *rewriter) item(sum ast.Expr) {
	if sum.Kind() != ast.CallKind {
		return
	}
	for _, arg := range sum.AsCall().Args() {
		if arg.Kind() == ast.ListKind || arg.Kind() == ast.MapKind {
			w.expr(arg)
		}
	}
}
