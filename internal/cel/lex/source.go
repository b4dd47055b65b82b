package lex

import (
	"math"
	"regexp"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

// A Source finds the source of the nodes of an expression.
type Source struct {
	text   []rune
	tokens []Token
	info   *ast.SourceInfo
}

// NewSource returns a Source for src, from which checked was compiled.
func NewSource(src string, checked *cel.Ast) *Source {
	text := []rune(src)
	return &Source{text: text, tokens: Tokens(text), info: checked.NativeRep().SourceInfo()}
}

// Of returns the source of a node as a single line, without comments where possible, or "" if the node has no
// position.
func (s *Source) Of(e ast.Expr) string {
	start, end, ok := s.Range(e)
	if !ok {
		return ""
	}
	return Flat(string(s.text[start:end]))
}

// Range returns the position of a node's source, in code points. ok is false if the node has no
// position in the source.
func (s *Source) Range(e ast.Expr) (from, to int, ok bool) {
	start, end, names := math.MaxInt32, -1, 0
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		o, ok := s.info.GetOffsetRange(e.ID())
		if !ok {
			return
		}
		if int(o.Start) < start {
			start, names = int(o.Start), 0
			if e.Kind() == ast.IdentKind {
				names = strings.Count(e.AsIdent(), ".")
			}
		}
		end = max(end, int(o.Start))
	}))
	if end < 0 {
		return 0, 0, false
	}
	first, last := s.token(start), s.token(end)
	if first < 0 || last < 0 {
		return 0, 0, false
	}
	if s.tokens[last].Text == "-" && last+1 < len(s.tokens) { // the sign of a literal
		last++
	}
	if names > 0 && s.tokens[first].Text == "." { // the node of authorizer.requestResource is at the dot
		first = max(0, first-2*names+1)
	}
	first, last = s.balance(s.operand(first), s.field(last))
	return s.tokens[first].Start, s.tokens[last].End, true
}

// Token returns the token at the position of a node, such as the operator of a call, or "" if the
// node has no position.
func (s *Source) Token(e ast.Expr) string {
	o, ok := s.info.GetOffsetRange(e.ID())
	if !ok {
		return ""
	}
	i := s.token(int(o.Start))
	if i < 0 {
		return ""
	}
	return s.tokens[i].Text
}

func (s *Source) token(offset int) int {
	for i, t := range s.tokens {
		if t.Start <= offset && offset < t.End {
			return i
		}
	}
	return -1
}

// operand extends a range to the name of a call. The node of a call is at the bracket.
func (s *Source) operand(first int) int {
	if s.tokens[first].Text != "(" {
		return first
	}
	for first > 0 && named(s.tokens[first-1]) {
		first--
	}
	return first
}

// named reports whether t can be part of a function name. The operator in cannot, although it is an
// identifier token.
func named(t Token) bool { return t.Kind == Ident && t.Text != "in" || t.Text == "." }

func (s *Source) field(last int) int {
	if t := s.tokens[last].Text; (t == "." || t == ".?") && last+1 < len(s.tokens) {
		return last + 1
	}
	return last
}

func (s *Source) balance(first, last int) (int, int) {
	open, missing := 0, 0
	for _, t := range s.tokens[first : last+1] {
		open += Depth(t)
		missing = min(missing, open)
	}
	for depth := 0; missing < 0 && first > 0; {
		first--
		depth += Depth(s.tokens[first])
		if depth > 0 {
			depth--
			missing++
			open++
		}
	}
	for open > 0 && last+1 < len(s.tokens) {
		last++
		open += Depth(s.tokens[last])
	}
	return first, last
}

var lineEnds = regexp.MustCompile(`\s*\n\s*`)

// OneLine joins the lines of a text.
func OneLine(text string) string {
	return lineEnds.ReplaceAllString(strings.TrimSpace(text), " ")
}

// Flat returns an expression as a single line, for display.
func Flat(src string) string {
	if line, ok := Join(src); ok {
		return line
	}
	return OneLine(src)
}

// Join returns an equivalent expression on a single line, without comments. ok is false if a string
// spans several lines.
func Join(src string) (line string, ok bool) {
	text := []rune(src)
	var b strings.Builder
	last := 0
	for _, t := range Tokens(text) {
		if t.Kind == Comment {
			last = t.End
			continue
		}
		if t.Kind == String && strings.ContainsAny(t.Text, "\n\r") {
			return "", false
		}
		if between := text[last:t.Start]; b.Len() > 0 && t.Start > last {
			if strings.ContainsAny(string(between), "\n\r") {
				b.WriteByte(' ')
			} else {
				b.WriteString(string(between))
			}
		}
		b.WriteString(t.Text)
		last = t.End
	}
	return b.String(), true
}
