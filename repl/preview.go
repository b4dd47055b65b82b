package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/x/assist"
)

// How it works: a preview is the value of the line that is being typed. It is computed after a pause,
// and must not change the session. So it compiles and evaluates the expression as a reply does, but it
// records no line, no note, and no correction. An evaluation has a work limit, so the
// same line has the same preview on every machine.

const (
	// previewWork limits the evaluation, in units of work: about a tenth of a second.
	previewWork = 100_000_000
	// maxPreviewed limits the size of a value and of an expression, in bytes.
	maxPreviewed = 16 << 10
)

type typedPreview struct {
	// call is the signature of the call that encloses the cursor, or "". argument is the part of it that describes the
	// argument at the cursor.
	call     string
	argument assist.Span
	// text is the value, or an error or another note instead of it, on one line. It can be empty.
	text   string
	failed bool
}

type typedExpr struct {
	src string
	pos int // the cursor, in code points
}

// preview returns the preview of a line with the cursor at pos, in code points. It does not change the session.
func (s *Session) preview(ctx context.Context, line string, pos int) (p typedPreview) {
	defer func() {
		if recover() != nil { // the reply to the line will report it
			p = typedPreview{}
		}
	}()
	x, ok := s.typedExpr(line, pos)
	if !ok || s.state.policy != "" || len(x.src) > maxPreviewed {
		return typedPreview{}
	}
	if call := s.helper().Call(x.src, x.pos); call != nil {
		form := call.Function.Forms[call.Form]
		p.call = form.Signature
		if call.Argument < len(form.Parameters) {
			p.argument = form.Parameters[call.Argument]
		}
	}
	if ctx.Err() == nil && !isUnfinished(x.src) {
		p.text, p.failed = s.previewText(ctx, &x)
	}
	return p
}

func (s *Session) typedExpr(line string, pos int) (x typedExpr, ok bool) {
	if s.partial == "" && isBareCommand(line) {
		return x, false
	}
	if s.partial != "" && !isCommand(line) {
		line, pos = s.partial+"\n"+line, pos+len([]rune(s.partial))+1
	}
	x = typedExpr{src: line, pos: pos}
	if strings.HasPrefix(line, ":") {
		name, arg, hasArg := strings.Cut(line[1:], " ")
		cmd, known := findCommand(name)
		if !known || !hasArg || !cmd.expression || cmd.removes && strings.HasSuffix(strings.TrimSpace(arg), "-") {
			return x, false
		}
		if arg, ok = s.typedRule(cmd.name, arg); !ok {
			return x, false
		}
		x.src, x.pos = arg, max(0, pos-len([]rune(line))+len([]rune(arg)))
	}
	isCode := func(t lex.Token) bool { return t.Kind != lex.Comment }
	return x, x.pos >= 0 && slices.ContainsFunc(lex.Tokens([]rune(x.src)), isCode)
}

func (s *Session) typedRule(command, arg string) (src string, ok bool) {
	if path, _ := cutRulePath(arg); command == "add" && path != "" {
		return "", false
	}
	first, rest, _ := strings.Cut(arg, " ")
	n, err := strconv.Atoi(first)
	if err != nil || command != "edit" && command != "messageExpression" {
		return arg, command != "edit"
	}
	rules := s.rulesHere() // with optionalOldSelf, oldSelf has another type
	return rest, n < 0 || n >= len(rules) || rules[n].OptionalOldSelf == nil
}

func isUnfinished(src string) bool {
	tokens := lex.Tokens([]rune(src))
	if len(tokens) == 0 || lex.Unfinished(src) {
		return true
	}
	last := tokens[len(tokens)-1]
	return last.Open || last.Kind != lex.Comment && strings.Contains("&|=<>!.+-*/%?:,", last.Text[len(last.Text)-1:])
}

func (s *Session) previewText(ctx context.Context, x *typedExpr) (text string, failed bool) {
	compiled, err := s.compile(strings.TrimSpace(x.src), false)
	var bad *engine.CompileError
	if errors.As(err, &bad) {
		if name, ok := s.nameAt(x); ok {
			return name, false
		}
		return "error: " + lex.OneLine(summary(bad)), true
	}
	if err != nil {
		return "", false
	}
	return s.previewValue(ctx, compiled)
}

func (s *Session) nameAt(x *typedExpr) (text string, ok bool) {
	src := []rune(x.src)
	src = src[:min(x.pos, len(src))]
	tokens := lex.Tokens(src)
	if len(tokens) == 0 {
		return "", false
	}
	last := tokens[len(tokens)-1]
	if last.Kind != lex.Ident || last.End != len(src) {
		return "", false
	}
	if len(tokens) > 1 && strings.HasPrefix("in", last.Text) {
		if before := tokens[len(tokens)-2]; lex.EndsOperand(before) || before.Kind == lex.Number {
			return "", true
		}
	}
	for _, c := range s.helper().Complete(src).Candidates {
		if c.Text != last.Text {
			return printable(strings.TrimSpace(c.Text + "  " + c.Hint)), true
		}
	}
	return "", false
}

func (s *Session) previewValue(ctx context.Context, compiled *expr.Expr) (text string, failed bool) {
	facts := ": " + s.price(compiled).Type
	p := s.here()
	if needsSelf(compiled) && !p.has {
		return facts, false
	}
	vars := eval.BindOld(p.compiler.Decl(), p.self, p.old)
	vars.LimitWork(previewWork)
	out := compiled.Run(ctx, vars)
	facts += fmt.Sprintf("; cost %d", out.Cost)
	var overwork *eval.OverworkError
	switch {
	case out.Err != nil && ctx.Err() != nil:
		return "", false
	case errors.As(out.Err, &overwork):
		return "no preview: it takes too much work", false
	case out.Err != nil:
		return "error: " + lex.OneLine(printable(out.Err.Error())), true
	case !eval.SizeAtMost(out.Value, maxPreviewed):
		return "a large value " + facts, false
	}
	return printable(format(out.Value)) + " " + facts, false
}

// describeCandidate returns a line about a candidate of Complete, or "". start is where the completion starts, in code
// points.
func (s *Session) describeCandidate(line string, start int, candidate string) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	before := []rune(line)
	before = before[:max(0, min(start, len(before)))]
	if len(before) == 0 && strings.HasPrefix(candidate, ":") {
		if cmd, ok := findCommand(strings.TrimSpace(candidate[1:])); ok && cmd.args != "" {
			return printable(strings.TrimSpace(candidate) + " " + cmd.args)
		}
		return ""
	}
	whole := append(slices.Clone(before), []rune(candidate)...)
	x, ok := s.typedExpr(string(whole), len(whole))
	if !ok {
		return ""
	}
	src := strings.TrimRight(x.src, "()")
	h := s.helper().Hover(x.src, max(0, len([]rune(src))-1))
	if h == nil {
		return ""
	}
	if text = h.Description; text == "" && h.Function != nil {
		text = h.Function.Description
	}
	if h.Bounds != "" && text != "" {
		text = "; " + text
	}
	return printable(h.Bounds + text)
}
