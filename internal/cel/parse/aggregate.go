package parse

import (
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/scan"
)

// listLiteral parses [a, ?b]. A trailing comma is allowed.
func (s *state) listLiteral() operand {
	id, from, height, optional := s.id(s.tok), len(s.operands), 0, []int32{}
	s.advance()
	for more := s.entries(scan.CloseBracket); more; {
		maybe, ok := s.optional()
		if !ok {
			return operand{}
		}
		if maybe {
			optional = append(optional, int32(len(s.operands)-from))
		}
		e := s.within(inBracket | inList)
		if e.expr == nil {
			return operand{}
		}
		s.operands, height = append(s.operands, e.expr), max(height, e.height)
		more = s.accept(scan.Comma) && s.tok.Kind != scan.CloseBracket
	}
	elements := s.popped(from)
	if !s.expect(scan.CloseBracket) {
		return operand{}
	}
	return operand{s.factory.NewList(id, elements, optional), height}
}

// entries reports whether entries follow an opening bracket. It skips a comma that is directly
// followed by the closing bracket, as in [,].
func (s *state) entries(end scan.Kind) bool {
	comma := s.tok
	if !s.accept(scan.Comma) {
		return s.tok.Kind != end
	}
	return s.tok.Kind != end && s.rejected(comma)
}

// optional parses the ? of an optional entry, if present. ok is false if the mark is present but
// optional syntax is disabled.
func (s *state) optional() (marked, ok bool) {
	mark := s.tok
	if !s.accept(scan.Question) {
		return false, true
	}
	return true, s.config.OptionalSyntax || s.rejected(mark)
}

// mapLiteral parses {a: b, ?c: d}. A trailing comma is allowed. The ID of an entry has the position
// of its colon, but is allocated before the IDs of its key.
func (s *state) mapLiteral() operand {
	id, height, entries := s.id(s.tok), 0, []ast.EntryExpr{}
	s.advance()
	for more := s.entries(scan.CloseBrace); more; {
		maybe, ok := s.optional()
		if !ok {
			return operand{}
		}
		entry := s.newID(noRange)
		key := s.within(inBrace | inList | inKey)
		if key.expr == nil {
			return operand{}
		}
		value, ok := s.entryValue(entry)
		if !ok {
			return operand{}
		}
		entries = append(entries, s.factory.NewMapEntry(entry, key.expr, value.expr, maybe))
		height = max(height, key.height, value.height)
		more = s.accept(scan.Comma) && s.tok.Kind != scan.CloseBrace
	}
	if !s.expect(scan.CloseBrace) {
		return operand{}
	}
	return operand{s.factory.NewMap(id, entries), height}
}

func (s *state) entryValue(id int64) (operand, bool) {
	s.ranges[id-1] = rangeOf(s.tok)
	if !s.expect(scan.Colon) {
		return operand{}, false
	}
	value := s.within(inBrace | inList)
	return value, value.expr != nil
}

// message parses a message literal from its brace on. The type name was already parsed as a path,
// whose IDs are released.
func (s *state) message(name path) operand {
	text, ok := s.typeName(name.start - 1)
	if !ok {
		return operand{}
	}
	s.ranges = s.ranges[:name.ids]
	id, height, fields := s.id(s.tok), 0, []ast.EntryExpr{}
	s.advance()
	for more := s.entries(scan.CloseBrace); more; {
		maybe, ok := s.optional()
		if !ok {
			return operand{}
		}
		entry := s.newID(noRange)
		field, _, ok := s.field()
		if !ok {
			return operand{}
		}
		value, ok := s.entryValue(entry)
		if !ok {
			return operand{}
		}
		fields = append(fields, s.factory.NewStructField(entry, field, value.expr, maybe))
		height = max(height, value.height)
		more = s.accept(scan.Comma) && s.tok.Kind != scan.CloseBrace
	}
	if !s.expect(scan.CloseBrace) {
		return operand{}
	}
	return operand{s.factory.NewStruct(id, text, fields), height}
}

// typeName parses a type name such as a.b.c at byte offset start. It reports whether an opening
// brace follows.
func (s *state) typeName(start int32) (string, bool) {
	scanner, want := scan.New(s.src.text, int(start)), scan.Ident
	if s.src.text[start] == '.' {
		want = scan.Dot
	}
	var b strings.Builder
	t := scanner.Next()
	for ; t.Kind == want; t = scanner.Next() {
		b.WriteString(s.src.text[t.Start:t.End])
		if want = scan.Ident; t.Kind == scan.Ident {
			want = scan.Dot
		}
	}
	return b.String(), want == scan.Dot && t.Kind == scan.OpenBrace
}
