package parse

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/scan"
)

// primary parses an operand up to its first selection, index, or member call. For a name, it also
// returns a path, because the name can turn out to be a message type.
func (s *state) primary() (of operand, name path) {
	switch first := s.tok; first.Kind {
	case scan.Ident:
		return s.named(first)
	case scan.Dot:
		s.advance()
		if s.tok.Kind == scan.Ident {
			return s.named(first)
		}
		return s.missingOperandAfter(first)
	case scan.OpenParen:
		return s.nested(), path{}
	case scan.OpenBracket:
		return s.listLiteral(), path{}
	case scan.OpenBrace:
		return s.mapLiteral(), path{}
	case scan.Minus:
		s.advance()
		if s.tok.Kind == scan.Int || s.tok.Kind == scan.Float {
			return s.number(first)
		}
		return s.missingOperandAfter(first)
	case scan.Int, scan.Uint, scan.Float:
		return s.number(token{})
	case scan.String, scan.Bytes:
		return s.text(), path{}
	case scan.True, scan.False:
		s.advance()
		return s.literal(rangeOf(first), celtypes.Bool(first.Kind == scan.True)), path{}
	case scan.Null:
		s.advance()
		return s.literal(rangeOf(first), celtypes.NullValue), path{}
	}
	return s.missingOperand()
}

// A path is the beginning of an operand that consists only of names and dots. It is zero for other
// operands.
type path struct {
	// start is the byte offset of the operand plus 1. ids is the number of IDs allocated before it.
	start, ids int32
}

func reserved(name string) bool {
	switch name {
	case "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while":
		return true
	}
	return false
}

// named parses a variable, a function call, or a message, starting at its name. first is the name
// or the dot before it.
func (s *state) named(first token) (operand, path) {
	at, ids := s.tok, int32(len(s.ranges))
	name := s.src.text[at.Start:at.End]
	if reserved(name) && !s.allowed(first.Start) {
		return operand{}, path{}
	}
	s.advance()
	if first.Kind == scan.Dot {
		name = "." + name
	}
	if s.tok.Kind == scan.OpenParen {
		return s.function(name, operand{}), path{}
	}
	return operand{expr: s.factory.NewIdent(s.id(at), name)}, path{first.Start + 1, ids}
}

// The expr of target is nil unless it is a member call.
func (s *state) function(name string, target operand) operand {
	id := s.id(s.tok)
	args, height := s.arguments()
	if args == nil {
		return operand{}
	}
	return operand{s.expanded(id, name, target.expr, args), max(target.height, height)}
}

// member parses the selections, indexes, and calls that follow an operand. It checks the height of
// a path only after the path is known not to be a type name.
func (s *state) member(of operand, name path) operand {
	for of.expr != nil {
		switch s.tok.Kind {
		case scan.Dot:
			var still bool
			if of, still = s.selection(of); !still {
				name = path{}
			}
		case scan.OpenBracket:
			of, name = s.index(of), path{}
		case scan.OpenBrace:
			if name.start == 0 {
				return of
			}
			of, name = s.message(name), path{}
		default:
			if of.height > s.config.MaxDepth {
				return s.tooHigh(of)
			}
			return of
		}
		if of.height > s.config.MaxDepth && name.start == 0 {
			of = s.tooHigh(of)
		}
	}
	return of
}

// selection parses a field or a member call, starting at the dot. It reports whether the operand
// can still be a path.
func (s *state) selection(of operand) (operand, bool) {
	dot := s.tok
	s.advance()
	optional := s.accept(scan.Question)
	field, at, ok := s.field()
	if !ok {
		return operand{}, false
	}
	switch {
	case optional:
		if !s.config.OptionalSyntax && !s.rejected(dot) {
			return operand{}, false
		}
		key := s.factory.NewLiteral(s.id(at), celtypes.String(field))
		return operand{s.factory.NewCall(s.id(dot), operators.OptSelect, s.list(of.expr, key)...), of.height + 1}, false
	case s.tok.Kind == scan.OpenParen && at.Kind == scan.Ident:
		call := s.function(field, of)
		call.height++
		return call, false
	}
	return operand{s.factory.NewSelect(s.id(dot), of.expr, field), of.height + 1}, at.Kind == scan.Ident
}

func (s *state) field() (name string, at token, ok bool) {
	at = s.tok
	switch at.Kind {
	case scan.Ident:
		name = s.textOf(at)
	case scan.EscapedIdent:
		if (at.Marks.Has(scan.Open) || s.config.NoEscapedIdents) && !s.rejected(at) {
			return "", at, false
		}
		name = strings.Trim(s.textOf(at), "`")
	default:
		return s.noField(at)
	}
	s.advance()
	return name, at, true
}

func (s *state) index(of operand) operand {
	id, name := s.id(s.tok), operators.Index
	s.advance()
	if mark := s.tok; s.accept(scan.Question) {
		if !s.config.OptionalSyntax && !s.rejected(mark) {
			return operand{}
		}
		name = operators.OptIndex
	}
	key := s.within(inBracket)
	if key.expr == nil || !s.expect(scan.CloseBracket) {
		return operand{}
	}
	return s.call(id, name, max(of.height, key.height)+1, of.expr, key.expr)
}

func (s *state) nested() operand {
	s.advance()
	e := s.within(inParen)
	if e.expr == nil || !s.expect(scan.CloseParen) {
		return operand{}
	}
	return e
}

// arguments returns nil if the arguments are invalid.
func (s *state) arguments() (args []ast.Expr, height int) {
	s.advance()
	if s.accept(scan.CloseParen) {
		return []ast.Expr{}, 0
	}
	from := len(s.operands)
	for {
		arg := s.within(inParen | inList)
		if arg.expr == nil {
			return nil, 0
		}
		s.operands, height = append(s.operands, arg.expr), max(height, arg.height)
		if !s.accept(scan.Comma) {
			break
		}
	}
	args = s.popped(from)
	if !s.expect(scan.CloseParen) {
		return nil, 0
	}
	return args, height
}

func (s *state) popped(from int) []ast.Expr {
	list := s.list(s.operands[from:]...)
	clear(s.operands[from:])
	s.operands = s.operands[:from]
	return list
}
