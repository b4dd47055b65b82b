package parse

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/scan"
)

// ErrNotAccepted means that an expression is no CEL, or beyond a bound of cel-go's:
// cel-go's parser knows why.
var ErrNotAccepted = errors.New("no CEL expression that cel-go accepts")

// ErrFlood means that macros make too much of an expression: each optMap copies
// what it stands behind, and so 25 of them in a row, 300 bytes, are a tree of 100
// million nodes. cel-go's parser sets no bound, and must not be asked.
var ErrFlood = fmt.Errorf("macros copy each other: more than %d nodes (want fewer optMap and optFlatMap one behind the other)", maxIDs)

// maxIDs bounds the ids that macros may take: all nodes of the largest text that
// cel-go accepts, twice over.
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

// floods says whether a text that is no CEL has macros that make too much: cel-go
// goes on behind what is wrong, and runs them.
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

// state is that of one parse.
type state struct {
	*Parser
	src  *Source
	scan scan.Scanner
	// tok is the token to be read next, and last the end of the one before.
	tok  token
	last int32
	// seen and points are a byte and its offset in code points, from which the
	// next token's is counted.
	seen   int32
	points int32
	// ranges are the positions of ids, from 1.
	ranges []ast.OffsetRange
	// exprs, relations and calcs count the grammar's rules that are open.
	exprs, relations, calcs int
	// operands and ops are stacks: of lists and calls, and of && and ||.
	operands []ast.Expr
	ops      []int64
	// slab is what argument lists are cut from.
	slab   []ast.Expr
	helper helper
	// calls are those that macros replaced, by the ids of what they made.
	calls map[int64]ast.Expr
	// flood is true where macros took too many ids.
	flood bool
	// holes are nil in a strict parse.
	holes *holes
}

// token is one, and its offset in code points.
type token struct {
	scan.Token
	at int32
}

// operand is a parsed expression; one whose expr is nil was not accepted.
type operand struct {
	expr ast.Expr
	// height counts the operators above each other that cel-go would visit.
	height int
}

func newState(p *Parser) *state {
	s := &state{Parser: p}
	s.helper.state = s
	return s
}

func (p *Parser) begin(src *Source) *state {
	s := p.states.Get().(*state)
	s.src, s.scan = src, scan.New(src.text, 0)
	return s
}

// end keeps what the next parse can use.
func (p *Parser) end(s *state) {
	clear(s.operands)
	*s = state{Parser: p, ranges: s.ranges[:0], operands: s.operands[:0], ops: s.ops[:0], helper: s.helper}
	if cap(s.ranges) <= maxKept && cap(s.operands) <= maxKept && cap(s.ops) <= maxKept {
		p.states.Put(s)
	}
}

// maxKept bounds what a state keeps for the next parse.
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

// accept reads a token of that kind, if it is the next.
func (s *state) accept(kind scan.Kind) bool {
	if s.tok.Kind != kind {
		return false
	}
	s.advance()
	return true
}

func (s *state) textOf(t token) string { return s.src.text[t.Start:t.End] }

// list cuts a list of arguments.
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

// maxSlab bounds the arguments that are made room for at once. Real rules have one
// for each eight bytes.
const maxSlab = 32
