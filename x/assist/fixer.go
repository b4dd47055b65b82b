package assist

import (
	"errors"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/spell"
)

// How fixes are found. Each class of errors has edits that authors usually want (fix_syntax.go,
// fix_names.go, fix_types.go, and so on). Each edit is tried before it is offered: the result must
// compile, or the next error must be after the edited part. If no edit is enough, the fixes of the next
// error are added to it: 10Gi becomes quantity("10Gi"), which < cannot compare, so < becomes a method.

type fixer struct {
	*fault
	hunt *hunt
	bad  *engine.CompileError
	text string // the error message
	// nodes is the syntax tree, and info and source map it to the text. All three are nil if the
	// expression does not parse.
	nodes  ast.Expr
	info   *ast.SourceInfo
	source *lex.Source
}

const (
	// maxFixes limits how many fixes are offered, maxTries how many expressions are compiled for them, and
	// maxSteps how many edits are combined to a fix.
	maxFixes = 4
	maxTries = 60
	maxSteps = 6
)

const (
	// maxFixedLength limits the length in code points of expressions for which fixes are tried. It is ten
	// times the length of the longest real rules.
	maxFixedLength = 10_000
	// maxRealLength is the length of the longest real rules, and maxLongTries limits how many expressions are
	// compiled for the fixes of longer rules, because the errors of a hostile expression can grow with the square
	// of its length.
	maxRealLength = 1000
	maxLongTries  = 8
)

// hunt is the search for the fixes of an expression.
type hunt struct {
	was   string // the expression that the author wrote
	tries int    // how many more expressions may be compiled
}

type proposal struct {
	edits []Edit
	// certain is set if the author can mean nothing else. alternative names a group of changes that exclude each
	// other: if several with different meanings fit, none is offered. last is set if a change must be enough on its own.
	certain     bool
	alternative string
	last        bool
}

func (p *Context) fixes(bad *engine.CompileError, f *fault, advice Advice) []Fix {
	h := &hunt{was: bad.Rule, tries: maxTries}
	switch n := len(f.src); {
	case n > maxFixedLength:
		return nil
	case n > maxRealLength:
		h.tries = maxLongTries
	}
	return p.fixesIn(bad, f, advice, h, maxSteps)
}

// fixesIn is like fixes. If no change fixes the expression as a whole, it continues with the next error for at most
// steps changes.
func (p *Context) fixesIn(bad *engine.CompileError, f *fault, advice Advice, h *hunt, steps int) []Fix {
	m := p.newFixer(bad, f, h)
	var attempts, fitting []attempt
	var part []Fix
	for _, one := range m.proposals(advice) {
		if m.isKnown(one, attempts) {
			continue
		}
		if h.tries--; h.tries < 0 {
			break
		}
		tried := m.try(one.edits)
		tried.proposal = one
		attempts = append(attempts, tried)
		switch {
		case tried.fits:
			fitting = append(fitting, tried)
		case tried.gone:
			part = append(part, Fix{Title: titleOf(f.src, one.edits), Edits: one.edits, Certain: one.certain, Partial: true})
		}
	}
	whole := m.decided(fitting)
	if len(fitting) == 0 && steps > 1 {
		whole = m.continued(attempts, steps-1)
	}
	whole = append(whole, part...)
	return whole[:min(len(whole), maxFixes)]
}

func (m *fixer) isKnown(one proposal, attempts []attempt) bool {
	if len(one.edits) == 0 || slices.ContainsFunc(one.edits, m.outside) {
		return true
	}
	src := Apply(m.bad.Rule, one.edits)
	return slices.ContainsFunc(attempts, func(other attempt) bool { return other.src == src })
}

// decided returns the fixes of attempts, without groups of alternatives that differ in meaning.
func (m *fixer) decided(fitting []attempt) (fixes []Fix) {
	for _, one := range fitting {
		differs := func(other attempt) bool {
			return other.proposal.alternative == one.proposal.alternative && other.meaning() != one.meaning()
		}
		if of := one.proposal; of.alternative == "" || !slices.ContainsFunc(fitting, differs) {
			fixes = append(fixes, Fix{Title: titleOf(m.src, of.edits), Edits: of.edits, Certain: of.certain})
		}
	}
	return fixes
}

func (m *fixer) outside(e Edit) bool { return e.Start < 0 || e.Start > e.End || e.End > len(m.src) }

// continued returns a fix that combines one of the attempts with fixes of the errors that are left.
func (m *fixer) continued(attempts []attempt, steps int) []Fix {
	for _, one := range attempts {
		var fixes []Fix
		switch {
		case m.hunt.tries <= 0:
			return nil
		case one.proposal.last:
			continue
		case one.next != nil:
			f, ok := m.context.newFault(one.next)
			if !ok || one.next.Summary() == m.text && f.offset <= m.offset {
				continue
			}
			fixes = m.context.fixesIn(one.next, f, f.advise(one.next.Summary()), m.hunt, steps)
		case one.compiled != nil && !m.context.fits(one.compiled):
			fixes = m.context.mistyped(one.compiled).Fixes
		}
		if len(fixes) == 0 || fixes[0].Partial {
			continue
		}
		edits := difference(m.src, []rune(Apply(one.src, fixes[0].Edits)))
		if last := m.try(edits); last.fits {
			title := titleOf(m.src, []Edit{widened(m.src, edits[0])})
			return []Fix{{Title: title, Edits: edits, Certain: one.proposal.certain && fixes[0].Certain}}
		}
	}
	return nil
}

func difference(from, to []rune) []Edit {
	start, end := 0, 0
	for start < len(from) && start < len(to) && from[start] == to[start] {
		start++
	}
	for end < len(from)-start && end < len(to)-start && from[len(from)-1-end] == to[len(to)-1-end] {
		end++
	}
	return []Edit{{start, len(from) - end, string(to[start : len(to)-end])}}
}

func (p *Context) newFixer(bad *engine.CompileError, f *fault, h *hunt) *fixer {
	m := &fixer{fault: f, hunt: h, bad: bad, text: bad.Summary()}
	if env := p.env(); env != nil {
		if parsed, err := celenv.Parse(env, bad.Rule); err == nil {
			m.nodes, m.info = parsed.NativeRep().Expr(), parsed.NativeRep().SourceInfo()
			m.source = lex.NewSource(bad.Rule, parsed)
		}
	}
	return m
}

func (m *fixer) proposals(advice Advice) (all []proposal) {
	add := func(like proposal, changes ...[]Edit) {
		for _, edits := range changes {
			like.edits = edits
			all = append(all, like)
		}
	}
	sure, guess := proposal{certain: true}, proposal{}
	match := unknownName.FindStringSubmatch(m.text)
	if match != nil {
		if edits, certain := m.textEdits(); len(edits) > 0 {
			add(proposal{certain: certain, alternative: "name"}, edits)
			if certain {
				return all
			}
		}
	}
	switch {
	case strings.HasPrefix(m.text, "Syntax error: "), strings.HasPrefix(m.text, "reserved identifier: "), m.nodes == nil:
		add(sure, m.syntaxEdits()...)
		add(guess, m.conditionEdits()...)
		add(guess, m.shapeEdits()...)
		add(proposal{alternative: "quote", last: true}, m.quoteEnds()...)
		add(proposal{alternative: "bracket", last: true}, m.closingEdits()...)
	case len(advice.Names) > 0:
		names := slices.DeleteFunc(slices.Clone(advice.Names), func(name string) bool { return spell.IsContrary(m.at(m.nameToken()), name) })
		certain := len(names) == 1 && len(advice.Names) == 1 && m.isTypo(names[0])
		add(proposal{certain: certain, alternative: "name"}, m.nameEdits(names)...)
	}
	add(proposal{certain: true, alternative: "name"}, m.ownerEdits()...)
	if match != nil {
		add(sure, m.renamedEdits(match[1])...)
		add(guess, m.elsewhereEdits(match[1])...)
		add(guess, m.pathEdits()...)
		if foreignKeyword(match[1]).hint != "" {
			near, every := m.wordEdits()
			add(sure, append(near, every)...)
		}
	}
	switch {
	case strings.Contains(m.text, "does not support field selection"), strings.HasPrefix(m.text, noResolution):
		add(sure, m.renamedEdits(m.at(m.nameToken()))...)
		add(guess, m.selectionEdits()...)
		if !strings.HasPrefix(m.text, "type 'list(") { // a field of another object is not meant
			add(guess, m.pathEdits()...)
		}
	case strings.Contains(m.text, "invalid argument to has() macro"):
		add(sure, m.argumentEdits()...)
		add(guess, m.presenceEdits()...)
	case m.text == invalidPattern:
		add(guess, m.patternEdits()...)
	}
	add(guess, m.typeEdits()...)
	if m.nodes != nil {
		add(guess, m.literalEdits()...) // a date parses as a subtraction
	}
	return all
}

type attempt struct {
	proposal proposal
	src      string
	// fits is set if the expression compiles and may be offered: see sound.
	fits     bool
	compiled *expr.Expr
	next     *engine.CompileError
	// gone is set if the expression compiles, or if the next error is further right.
	gone bool
}

func (m *fixer) try(edits []Edit) attempt {
	one := attempt{src: Apply(m.bad.Rule, edits)}
	x, err := m.context.compile(one.src)
	switch {
	case err == nil:
		one.compiled, one.fits, one.gone = x, m.context.sound(m.hunt.was, x), true
		return one
	case !errors.As(err, &one.next):
		return one
	}
	next, ok := m.context.newFault(one.next)
	lastEnd, grown := 0, 0
	for _, e := range edits {
		lastEnd = max(lastEnd, e.End)
		grown += len([]rune(e.Text)) - (e.End - e.Start)
	}
	one.gone = ok && next.offset >= lastEnd+grown && next.offset > m.offset+max(grown, 0)
	return one
}

// meaning returns the compiled expression as cel-go prints it, so that spaces and redundant
// parentheses do not matter, or its source if cel-go cannot print it.
func (a *attempt) meaning() string {
	text, err := cel.AstToString(a.compiled.AST())
	if err != nil {
		return a.src
	}
	return text
}
