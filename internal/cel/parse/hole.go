package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/internal/cel/scan"
)

// A Hole is the text of a syntax error that a tolerant parse found, in code points. Missing text belongs
// between Start and End.
type Hole struct{ Start, End int32 }

// Tolerant returns a tree for any src, and the syntax errors. If Parse accepts src, the trees are
// equal and the list of errors is empty. Macro calls that cannot be expanded remain calls.
func (p *Parser) Tolerant(src *Source) (*ast.AST, []Hole) {
	s := p.begin(src)
	defer p.end(s)
	s.holes = &holes{}
	if p.tooLarge(src) {
		root := s.hole(0, src.width(src.text))
		return ast.NewAST(root.expr, s.finish()), s.holes.list
	}
	s.advance()
	root := s.expr()
	return ast.NewAST(root.expr, s.finish()), s.holes.list
}

type holes struct {
	list []Hole
	// await holds the tokens with which an enclosing rule continues.
	await set
}

type set uint64

const (
	inParen   set = 1 << scan.CloseParen
	inBracket set = 1 << scan.CloseBracket
	inBrace   set = 1 << scan.CloseBrace
	inList    set = 1 << scan.Comma
	inKey     set = 1 << scan.Colon

	atEnd  set = 1 << scan.EOF
	closes     = inParen | inBracket | inBrace
	opens  set = 1<<scan.OpenParen | 1<<scan.OpenBracket | 1<<scan.OpenBrace
	// begins holds the tokens that can begin an operand, without -, which is read as an operator.
	begins = opens | 1<<scan.Ident | 1<<scan.EscapedIdent | 1<<scan.Int | 1<<scan.Uint | 1<<scan.Float |
		1<<scan.String | 1<<scan.Bytes | 1<<scan.True | 1<<scan.False | 1<<scan.Null | 1<<scan.Not | 1<<scan.Dot
)

func (s set) has(t token) bool { return s&(1<<t.Kind) != 0 }

// within parses an expression that can be followed by a token in await.
func (s *state) within(await set) operand {
	if s.holes == nil {
		return s.expr()
	}
	before := s.holes.await
	s.holes.await |= await
	e := s.expr()
	s.holes.await = before
	return e
}

func (s *state) note(start, end int32) { s.holes.list = append(s.holes.list, Hole{start, end}) }

func (s *state) hole(start, end int32) operand {
	s.note(start, end)
	return operand{expr: s.factory.NewUnspecifiedExpr(s.newID(ast.OffsetRange{Start: start, Stop: end}))}
}

// before returns the end of the last token, in code points.
func (s *state) before() int32 {
	return s.tok.at - int32(utf8.RuneCountInString(s.src.text[s.last:s.tok.Start]))
}

func (s *state) endOf(t token) int32 { return t.at + s.src.width(s.textOf(t)) }

func (s *state) missingOperandAfter(t token) (operand, path) {
	s.rejected(t)
	return s.missingOperand()
}

// In a tolerant parse, missingOperand skips tokens that cannot be part of an operand, and returns the next operand or,
// if no operand follows, a hole.
func (s *state) missingOperand() (operand, path) {
	if s.holes == nil {
		return operand{}, path{}
	}
	for s.tok.Kind == scan.Bad || s.tok.Kind == scan.Dot {
		s.rejected(s.tok)
		s.advance()
	}
	switch at := s.tok; {
	case at.Kind == scan.EscapedIdent:
		s.rejected(at)
		s.advance()
		return operand{expr: s.factory.NewIdent(s.id(at), strings.Trim(s.textOf(at), "`"))}, path{}
	case begins.has(at) && at.Kind != scan.Not:
		return s.primary()
	}
	return s.hole(s.before(), s.tok.at), path{}
}

// expect reads a token of the given kind and reports whether parsing can continue. A tolerant parse
// records a hole and continues if the token is missing.
func (s *state) expect(kind scan.Kind) bool {
	if s.accept(kind) {
		return true
	}
	if s.holes == nil {
		return false
	}
	s.note(s.before(), s.tok.at)
	return true
}

// rejected handles token t, which is not valid at its position, and reports whether parsing can
// continue. A tolerant parse records a hole and continues.
func (s *state) rejected(t token) bool {
	if s.holes == nil {
		return false
	}
	s.note(t.at, s.endOf(t))
	return true
}

func (s *state) wrong(at ast.OffsetRange) operand {
	if s.holes == nil {
		return operand{}
	}
	s.advance()
	return s.hole(at.Start, s.before())
}

// allowed reports whether parsing can continue at a reserved word. A reserved word is valid only at
// the beginning of a type name.
func (s *state) allowed(start int32) bool {
	_, ok := s.typeName(start)
	return ok || s.rejected(s.tok)
}

func (s *state) noField(at token) (string, token, bool) {
	switch {
	case s.holes == nil:
		return "", at, false
	case at.Kind == scan.In || at.Kind == scan.True || at.Kind == scan.False || at.Kind == scan.Null:
		s.advance()
		return s.textOf(at), at, s.rejected(at)
	}
	s.note(s.before(), at.at)
	return "", at, true
}

func (s *state) badMacro(id int64, name string, target ast.Expr, args []ast.Expr) ast.Expr {
	if s.holes == nil {
		return nil
	}
	r, _ := s.rangeAt(id)
	s.note(r.Start, r.Stop)
	return s.plainCall(id, name, target, args)
}

func (s *state) tooHigh(of operand) operand {
	if s.holes == nil {
		return operand{}
	}
	r, _ := s.rangeAt(of.expr.ID())
	return s.hole(r.Start, s.before())
}

// A tolerant parse skips to the end of the enclosing brackets.
func (s *state) tooDeep() operand {
	if s.holes == nil {
		return operand{}
	}
	start, end, depth := s.tok.at, s.tok.at, 0
	for ; s.tok.Kind != scan.EOF; s.advance() {
		switch {
		case opens.has(s.tok):
			depth++
		case closes.has(s.tok) && depth == 0:
			return s.hole(start, end)
		case closes.has(s.tok):
			depth--
		}
		end = s.endOf(s.tok)
	}
	return s.hole(start, end)
}

// choiceWithin parses the text between the second operand of a choice and its colon. Another choice
// is not valid there.
func (s *state) choiceWithin(e operand) operand {
	before := s.holes.await
	s.holes.await |= inKey
	if s.tok.Kind == scan.Question {
		s.rejected(s.tok)
		e = s.choice(e)
	}
	e = s.strays(e)
	s.holes.await = before
	return e
}

// strays appends unexpected tokens to e until the end or a token in await. Each iteration consumes
// at least one token.
func (s *state) strays(e operand) operand {
	for !(s.holes.await | atEnd).has(s.tok) {
		switch kind := s.tok.Kind; {
		case kind == scan.Question:
			e = s.choice(e)
		case operatorOf(kind) != "":
			id := s.id(s.tok)
			s.advance()
			e = s.joined(id, operatorOf(kind), e)
		case begins.has(s.tok):
			at := s.before()
			s.note(at, s.tok.at)
			e = s.joined(s.newID(ast.OffsetRange{Start: at, Stop: s.tok.at}), "", e)
		default:
			s.rejected(s.tok)
			s.advance()
		}
	}
	return e
}

func operatorOf(kind scan.Kind) string {
	switch kind {
	case scan.And:
		return operators.LogicalAnd
	case scan.Or:
		return operators.LogicalOr
	}
	return binary[kind].name
}

func (s *state) joined(id int64, name string, left operand) operand {
	return s.binary(id, name, left, s.conditional())
}
