package assist

import (
	"errors"
	"slices"

	"github.com/celadon-cel/celadon/engine"
)

// Problem is something that is wrong with an expression, and how to mend it.
type Problem struct {
	Kind ProblemKind
	// Start and End are the code points of what is wrong.
	Start, End int
	// Message says what is wrong: of a Broken expression in the API server's words,
	// but for the place.
	Message string
	Advice
}

// ProblemKind is what is wrong.
type ProblemKind uint8

// The kinds of problems. Broken is an expression that the API server refuses, for its
// syntax, names or types; Unguarded is one that reads what may be absent, and so may
// have no value; Costly is one whose estimate is over the limit.
const (
	Broken ProblemKind = iota
	Unguarded
	Costly
)

// Advice is how to mend an expression. The zero value is none.
type Advice struct {
	// Names are what an unknown name was perhaps meant to be.
	Names []string
	// Words say what to do, where that is more than another name. They may
	// quote the expression and are one line.
	Words string
	// Mends each take the problem away; the first is the one to take.
	Mends []Mend
}

// Mend is a change that takes a problem away: of the expression's text, or of bounds
// in the schema.
type Mend struct {
	// Title says what it does, in a line: "write == for =".
	Title  string
	Edits  []Edit
	Bounds []Bound
}

// Edit puts a text in place of code points of an expression.
type Edit struct {
	Start, End int
	Text       string
}

// Bound is a bound to set in the schema.
type Bound struct {
	// Path is the place of the value to bound, as "spec.hosts[*]"; Set is maxLength,
	// maxItems or maxProperties, Value what to set it to. Now is the bound that is
	// there; 0 for none.
	Path, Set  string
	Value, Now int64
}

// Apply is an expression after edits, which must not overlap.
func Apply(src string, edits []Edit) string {
	text := []rune(src)
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return b.Start - a.Start })
	for _, e := range edits {
		text = slices.Replace(text, e.Start, e.End, []rune(e.Text)...)
	}
	return string(text)
}

// Problems are what is wrong with an expression, in the order of its text.
func (p *Place) Problems(src string) []Problem {
	_, err := p.compile(src)
	var bad *engine.CompileError
	if !errors.As(err, &bad) {
		return nil
	}
	return []Problem{p.ProblemOf(bad)}
}

// ProblemOf is a compile error of the place's rule as a problem with its mends.
func (p *Place) ProblemOf(bad *engine.CompileError) Problem {
	out := Problem{Message: bad.Summary(), Advice: Advise(bad, p.Names)}
	if f, ok := newFault(bad); ok {
		out.Start, out.End = f.offset, f.offset
		if f.token < len(f.tokens) {
			out.Start, out.End = f.tokens[f.token].Start, f.tokens[f.token].End
		}
	}
	return out
}
