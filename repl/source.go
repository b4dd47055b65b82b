package repl

import (
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

// source finds the text that the nodes of an expression were written as.
type source struct {
	text   []rune
	tokens []token
	info   *ast.SourceInfo
}

func newSource(src string, checked *cel.Ast) *source {
	text := []rune(src)
	return &source{text: text, tokens: lex(text), info: checked.NativeRep().SourceInfo()}
}

// of is a node's text on one line; "" for what a macro made up.
func (s *source) of(e ast.Expr) string {
	start, end := math.MaxInt32, -1
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if o, ok := s.info.GetOffsetRange(e.ID()); ok {
			start, end = min(start, int(o.Start)), max(end, int(o.Start))
		}
	}))
	if end < 0 {
		return ""
	}
	first, last := s.token(start), s.token(end)
	if first < 0 || last < 0 {
		return ""
	}
	first, last = s.balance(s.operand(first), s.field(last))
	return oneLine(string(s.text[s.tokens[first].start:s.tokens[last].end]))
}

// token is the token at an offset; -1 when there is none.
func (s *source) token(offset int) int {
	for i, t := range s.tokens {
		if t.start <= offset && offset < t.end {
			return i
		}
	}
	return -1
}

// operand takes a call's name along, whose node stands at the bracket.
func (s *source) operand(first int) int {
	if s.tokens[first].text != "(" {
		return first
	}
	for first > 0 && (s.tokens[first-1].kind == tokenIdent || s.tokens[first-1].text == ".") {
		first--
	}
	return first
}

// field takes the name behind a selection's dot along.
func (s *source) field(last int) int {
	if t := s.tokens[last].text; (t == "." || t == ".?") && last+1 < len(s.tokens) {
		return last + 1
	}
	return last
}

// balance widens a range of tokens until its brackets match.
func (s *source) balance(first, last int) (int, int) {
	open, missing := 0, 0
	for _, t := range s.tokens[first : last+1] {
		open += bracketDepth(t)
		missing = min(missing, open)
	}
	for depth := 0; missing < 0 && first > 0; {
		first--
		depth += bracketDepth(s.tokens[first])
		if depth > 0 {
			depth--
			missing++
			open++
		}
	}
	for open > 0 && last+1 < len(s.tokens) {
		last++
		open += bracketDepth(s.tokens[last])
	}
	return first, last
}
