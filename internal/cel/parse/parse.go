package parse

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/scan"
)

// ErrNotAccepted reports that an expression is not valid CEL or exceeds a limit of cel-go. Use
// cel-go's parser to get the error message.
var ErrNotAccepted = errors.New("not a CEL expression that cel-go accepts")

// ErrFlood reports that macros expand an expression to too many nodes. Each optMap copies its
// receiver, so 25 of them in a row, in 300 bytes, result in 100 million nodes. Do not pass such an
// expression to cel-go's parser, which has no limit.
var ErrFlood = fmt.Errorf("macros copy each other: more than %d nodes (want fewer nested optMap and optFlatMap calls)", maxIDs)

// maxIDs limits the number of IDs. It is about twice the number of nodes in the largest expression
// that cel-go accepts.
const maxIDs = 250_000

// Parse parses an expression. The error is ErrNotAccepted or ErrFlood.
func (p *Parser) Parse(src *Source) (*ast.AST, error) {
	if p.tooLarge(src) {
		return nil, ErrNotAccepted
	}
	s := p.begin(src)
	defer p.end(s)
	s.advance()
	root := s.expr()
	switch {
	case s.flood:
		return nil, ErrFlood
	case root.expr != nil && s.tok.Kind == scan.EOF:
		return ast.NewAST(root.expr, s.finish()), nil
	case p.floods(src):
		return nil, ErrFlood
	}
	return nil, ErrNotAccepted
}

// floods reports whether macros expand to too many nodes in an expression that is invalid. cel-go's
// parser continues after an error and would expand them.
func (p *Parser) floods(src *Source) bool {
	s := p.begin(src)
	defer p.end(s)
	s.holes = &holes{}
	s.advance()
	s.expr()
	return s.flood
}

func (p *Parser) tooLarge(src *Source) bool {
	return len(src.text) > p.config.MaxSize && utf8.RuneCountInString(src.text) > p.config.MaxSize
}

type state struct {
	*Parser
	src  *Source
	scan scan.Scanner
	// tok is the next token. last is the end of the previous token.
	tok  token
	last int32
	// seen is a byte offset and points the same offset in code points. Positions are counted from
	// there.
	seen   int32
	points int32
	// ranges holds the positions of the IDs, starting with ID 1.
	ranges []ast.OffsetRange
	// exprs, relations, and calcs count the open grammar rules of each kind.
	exprs, relations, calcs int
	// operands is a stack for lists and arguments, ops a stack for && and ||.
	operands []ast.Expr
	ops      []int64
	slab     []ast.Expr
	helper   helper
	flood    bool
	// holes is nil in a strict parse.
	holes *holes
}

// A token is a scanned token with its offset in code points.
type token struct {
	scan.Token
	at int32
}

// An operand is a parsed expression. Its expr is nil if the expression was rejected.
type operand struct {
	expr ast.Expr
	// height is the number of nested operators that cel-go would visit.
	height int
}

func (p *Parser) begin(src *Source) *state {
	s := p.states.Get().(*state)
	s.src, s.scan = src, scan.New(src.text, 0)
	return s
}

func (p *Parser) end(s *state) {
	clear(s.operands)
	*s = state{Parser: p, ranges: s.ranges[:0], operands: s.operands[:0], ops: s.ops[:0], helper: s.helper}
	if cap(s.ranges) <= maxKept && cap(s.operands) <= maxKept && cap(s.ops) <= maxKept {
		p.states.Put(s)
	}
}

const maxKept = 1024

func (s *state) advance() {
	s.last = s.tok.End
	s.scan.Read(&s.tok.Token)
	if s.src.ascii {
		s.tok.at = s.tok.Start
		return
	}
	s.points += int32(utf8.RuneCountInString(s.src.text[s.seen:s.tok.Start]))
	s.seen, s.tok.at = s.tok.Start, s.points
}

func (s *state) accept(kind scan.Kind) bool {
	if s.tok.Kind != kind {
		return false
	}
	s.advance()
	return true
}

func (s *state) textOf(t token) string { return s.src.text[t.Start:t.End] }

// list copies exprs to a slice, which is in the slab unless exprs are many.
func (s *state) list(exprs ...ast.Expr) []ast.Expr {
	n := len(exprs)
	if n == 0 {
		return []ast.Expr{}
	}
	if n > len(s.slab) {
		if n > maxSlab/4 {
			return append([]ast.Expr(nil), exprs...)
		}
		s.slab = make([]ast.Expr, max(n, min(maxSlab, (len(s.src.text)-int(s.tok.Start))/8)))
	}
	list := s.slab[:n:n]
	s.slab = s.slab[n:]
	copy(list, exprs)
	return list
}

// maxSlab limits the size of a slab. Real rules have about one argument per eight bytes.
const maxSlab = 32
