package assist

import (
	"errors"
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/expr"
	parts "github.com/celadon-cel/celadon/engine/x/rule"
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
	// Fixes each take the problem away; the first is the one to take.
	Fixes []Fix
}

// Fix is a change that takes a problem away: of the expression's text, or of bounds
// in the schema.
type Fix struct {
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

// Problems are what is wrong with an expression, in the order of its text: why it does
// not compile or, where it does, what may go wrong with it.
func (p *Place) Problems(src string) []Problem {
	x, err := p.compile(src)
	var bad *engine.CompileError
	switch {
	case errors.As(err, &bad):
		return []Problem{p.ProblemOf(bad)}
	case err != nil:
		return nil
	}
	if bad := p.mistyped(x); bad != nil {
		return []Problem{*bad}
	}
	all := p.unguarded(x)
	if dear := p.costly(x); dear != nil {
		all = append(all, *dear)
	}
	return all
}

// mistyped is the problem of an expression that is not what its part wants; nil for
// none.
func (p *Place) mistyped(x *expr.Expr) *Problem {
	if p.fits(x) {
		return nil
	}
	part := partOf[p.Part]
	all := Span{0, len([]rune(x.Source()))}
	out := &Problem{Start: all.Start, End: all.End, Message: part.WrongType()}
	edits := [][]Edit{wrap(all, "string(", ")")}
	if p.Part == Rule {
		of := kindOf(x.Type().String())
		out.Words, edits = asCondition(of, "x"), conditions(all, of)
	}
	for _, e := range edits {
		bare := p.tried(x.Source(), e, p.fits)
		if len(bare) == 0 && len(e) == 1 {
			bare = p.tried(x.Source(), []Edit{{all.Start, all.Start, "("}, {all.End, all.End, ")" + e[0].Text}}, p.fits)
		}
		out.Fixes = append(out.Fixes, bare...)
	}
	return out
}

// partOf are the parts as the compiler of rules has them.
var partOf = map[Part]parts.Part{Rule: parts.Itself, MessageExpression: parts.Message}

// fits is true of an expression that gives what the part wants.
func (p *Place) fits(x *expr.Expr) bool {
	part, ok := partOf[p.Part]
	return !ok || part.Takes(x.AST())
}

// tried is the mend of these edits, if they lead to an expression of which good is true.
func (p *Place) tried(src string, edits []Edit, good func(*expr.Expr) bool) []Fix {
	if x, err := p.compile(Apply(src, edits)); err != nil || !good(x) {
		return nil
	}
	return []Fix{{Title: titleOf([]rune(src), edits), Edits: edits}}
}

// ProblemOf is a compile error of the place's expression as a problem with its mends.
func (p *Place) ProblemOf(bad *engine.CompileError) Problem {
	f, ok := newFault(bad)
	if !ok {
		if x, err := p.compile(bad.Rule); err == nil {
			if typed := p.mistyped(x); typed != nil {
				return *typed
			}
		}
		return Problem{Message: bad.Summary(), End: len([]rune(bad.Rule))}
	}
	out := Problem{Message: bad.Summary(), Advice: Advise(bad, p.Names)}
	out.Start, out.End = f.extent()
	out.Fixes = p.fixes(bad, f, out.Advice)
	return out
}

// extent is the text that the error is about: the token at its place, of a field its
// name.
func (f *fault) extent() (start, end int) {
	i := f.token
	if i == len(f.tokens) {
		return len(f.src), len(f.src)
	}
	if f.at(i) == "." && f.isName(i+1) {
		i++
	}
	return f.tokens[i].Start, f.tokens[i].End
}
