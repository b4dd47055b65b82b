package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/celadon-cel/celadon/internal/cel/scan"
)

// Hole is a place where a text is no CEL.
type Hole struct {
	Kind HoleKind
	// ID is the node that stands for the hole or has it; 0 where none does.
	ID int64
	// Start and End are the text that the hole takes, in code points. What is
	// missing would stand between them.
	Start, End int32
}

// HoleKind is what is wrong.
type HoleKind uint8

// The kinds of holes.
const (
	// Operand is one that is missing. Its node has no content.
	Operand HoleKind = iota
	// Name is a field's, or a member's, that is missing. Its node is the selection.
	Name
	// Operator is one that is missing between two operands. Its node is a call
	// without a name.
	Operator
	// Closing is a bracket or a colon that is missing.
	Closing
	// Unfit is text that cannot stand there. Its node, if there is one, is what
	// the text stands for all the same.
	Unfit
	// Deep is text, or its node what is left of some, that nests too deep.
	Deep
)

// Tolerant gives the largest tree that a text makes sense as, and what is wrong
// with it; nothing is wrong with what Parse accepts, and then both trees are
// the same. Nodes of macros that cannot be expanded stay calls.
func (p *Parser) Tolerant(src *Source) (*ast.AST, []Hole) {
	s := p.begin(src)
	defer p.end(s)
	s.holes = &holes{}
	if p.tooLarge(src) {
		root := s.hole(Deep, 0, src.width(src.text))
		return ast.NewAST(root.expr, s.finish()), s.holes.list
	}
	s.advance()
	root := s.expr()
	return ast.NewAST(root.expr, s.finish()), s.holes.list
}

// holes are what a tolerant parse has found.
type holes struct {
	list []Hole
	// await are the tokens that somebody outside goes on with.
	await set
}

// set is one of kinds of tokens.
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
	// begins are what operands begin with.
	begins = opens | 1<<scan.Ident | 1<<scan.EscapedIdent | 1<<scan.Int | 1<<scan.Uint | 1<<scan.Float |
		1<<scan.String | 1<<scan.Bytes | 1<<scan.True | 1<<scan.False | 1<<scan.Null | 1<<scan.Not | 1<<scan.Dot
)

func (s set) has(t token) bool { return s&(1<<t.Kind) != 0 }

// within reads an expression behind which some token goes on.
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

func (s *state) note(h Hole) { s.holes.list = append(s.holes.list, h) }

// hole is a node without content.
func (s *state) hole(kind HoleKind, start, end int32) operand {
	id := s.newID(ast.OffsetRange{Start: start, Stop: end})
	s.note(Hole{kind, id, start, end})
	return operand{expr: s.factory.NewUnspecifiedExpr(id)}
}

// before is where the last token ended.
func (s *state) before() int32 {
	return s.tok.at - int32(utf8.RuneCountInString(s.src.text[s.last:s.tok.Start]))
}

// endOf is where a token ends.
func (s *state) endOf(t token) int32 { return t.at + s.src.width(s.textOf(t)) }

// missAfter is where an operand should begin behind a token that none follows.
func (s *state) missAfter(t token) (operand, path) {
	if !s.refused(t) {
		return operand{}, path{}
	}
	return s.miss()
}

// miss is where an operand should begin and none does.
func (s *state) miss() (operand, path) {
	if s.holes == nil {
		return operand{}, path{}
	}
	for s.tok.Kind == scan.Bad || s.tok.Kind == scan.Dot {
		s.refused(s.tok)
		s.advance()
	}
	switch at := s.tok; {
	case at.Kind == scan.EscapedIdent:
		s.refused(at)
		s.advance()
		return operand{expr: s.factory.NewIdent(s.id(at), strings.Trim(s.textOf(at), "`"))}, path{}
	case begins.has(at) && at.Kind != scan.Not:
		return s.primary()
	}
	return s.hole(Operand, s.before(), s.tok.at), path{}
}

// expect reads a token of that kind. It is false where another is there.
func (s *state) expect(kind scan.Kind) bool {
	if s.accept(kind) {
		return true
	}
	if s.holes == nil {
		return false
	}
	s.note(Hole{Kind: Closing, Start: s.before(), End: s.tok.at})
	return true
}

// refused notes a token that cannot stand there. It is false where that ends the
// parse.
func (s *state) refused(t token) bool {
	if s.holes == nil {
		return false
	}
	s.note(Hole{Kind: Unfit, Start: t.at, End: s.endOf(t)})
	return true
}

// wrong is a literal without a value.
func (s *state) wrong(at ast.OffsetRange) operand {
	if s.holes == nil {
		return operand{}
	}
	s.advance()
	return s.hole(Unfit, at.Start, s.before())
}

// allowed says whether a reserved word may stand there: if it begins a type's name.
func (s *state) allowed(start int32) bool {
	_, ok := s.typeName(start)
	return ok || s.refused(s.tok)
}

// noField is where a field's name should be.
func (s *state) noField(at token) (string, token, bool) {
	switch {
	case s.holes == nil:
		return "", at, false
	case at.Kind == scan.In || at.Kind == scan.True || at.Kind == scan.False || at.Kind == scan.Null:
		s.advance()
		return s.textOf(at), at, s.refused(at)
	}
	s.note(Hole{Kind: Name, Start: s.before(), End: at.at})
	return "", at, true
}

// unnamed tells a hole in place of a name whose it is.
func (s *state) unnamed(name string, id int64) {
	if s.holes != nil && name == "" {
		s.holes.list[len(s.holes.list)-1].ID = id
	}
}

// badMacro is a call that a macro finds something wrong with, or makes too much of.
func (s *state) badMacro(id int64, name string, target ast.Expr, args []ast.Expr) ast.Expr {
	if s.holes == nil {
		return nil
	}
	r, _ := s.rangeAt(id)
	s.note(Hole{Unfit, id, r.Start, r.Stop})
	return s.plainCall(id, name, target, args)
}

// tooHigh is an operand with too many operators above each other.
func (s *state) tooHigh(of operand) operand {
	if s.holes == nil {
		return operand{}
	}
	r, _ := s.rangeAt(of.expr.ID())
	return s.hole(Deep, r.Start, s.before())
}

// tooDeep goes on behind all that is in the brackets that the next token is in.
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
			return s.hole(Deep, start, end)
		case closes.has(s.tok):
			depth--
		}
		end = s.endOf(s.tok)
	}
	return s.hole(Deep, start, end)
}

// choiceWithin reads what may follow the second operand of a choice: another
// choice may not.
func (s *state) choiceWithin(e operand) operand {
	before := s.holes.await
	s.holes.await |= inKey
	if s.tok.Kind == scan.Question {
		s.refused(s.tok)
		e = s.choice(e)
	}
	e = s.strays(e)
	s.holes.await = before
	return e
}

// strays joins to an expression what follows it and that nobody awaits. Each
// turn reads a token.
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
			id := s.newID(ast.OffsetRange{Start: at, Stop: s.tok.at})
			s.note(Hole{Operator, id, at, s.tok.at})
			e = s.joined(id, "", e)
		default:
			s.refused(s.tok)
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

// joined calls an operator on an expression and what is read next.
func (s *state) joined(id int64, name string, left operand) operand {
	return s.binary(id, name, left, s.conditional())
}
