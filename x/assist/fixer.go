package assist

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// How fixes are found. Each class of errors has edits that authors usually want (fix_syntax.go,
// fix_names.go, fix_types.go). Each edit is tried before it is offered: the result must compile,
// or the next error must be after the edited part.

// fixer looks for fixes of a compile error.
type fixer struct {
	*fault
	context *Context
	bad     *engine.CompileError
	text    string // the error message
	// nodes is the syntax tree, and info and source map it to the text. All three are nil if the
	// expression does not parse.
	nodes  ast.Expr
	info   *ast.SourceInfo
	source *lex.Source
}

const (
	// maxFixes limits how many fixes are offered, and maxTries how many are tried.
	maxFixes = 4
	maxTries = 16
)

// maxFixedLength limits the length in code points of expressions for which fixes are tried. It is ten
// times the length of the longest real rules.
const maxFixedLength = 10_000

// fixes returns the fixes of an error that is described by advice.
func (p *Context) fixes(bad *engine.CompileError, f *fault, advice Advice) []Fix {
	if len(f.src) > maxFixedLength {
		return nil
	}
	m := &fixer{fault: f, context: p, bad: bad, text: bad.Summary()}
	if env := p.env(); env != nil {
		if parsed, err := celenv.Parse(env, bad.Rule); err == nil {
			m.nodes, m.info = parsed.NativeRep().Expr(), parsed.NativeRep().SourceInfo()
			m.source = lex.NewSource(bad.Rule, parsed)
		}
	}
	var whole, part []Fix
	none := func(edits []Edit) bool { return len(edits) == 0 }
	for i, edits := range slices.DeleteFunc(m.candidates(advice), none) {
		if i >= maxTries {
			break
		}
		same := func(other Fix) bool { return Apply(bad.Rule, other.Edits) == Apply(bad.Rule, edits) }
		if slices.ContainsFunc(whole, same) || slices.ContainsFunc(part, same) {
			continue
		}
		fix := Fix{Title: titleOf(f.src, edits), Edits: edits}
		switch compiles, gone := m.try(edits); {
		case compiles:
			whole = append(whole, fix)
		case gone:
			part = append(part, fix)
		}
	}
	whole = append(whole, part...)
	return whole[:min(len(whole), maxFixes)]
}

// candidates returns edits that may fix the error, the most likely first.
func (m *fixer) candidates(advice Advice) (all [][]Edit) {
	switch {
	case strings.HasPrefix(m.text, "Syntax error: "), strings.HasPrefix(m.text, "reserved identifier: "), m.nodes == nil:
		all = m.syntaxEdits()
	case len(advice.Names) > 0:
		all = m.nameEdits(advice.Names)
	}
	if match := unknownName.FindStringSubmatch(m.text); match != nil {
		all = append(all, m.elsewhereEdits(match[1])...)
		if wordHints[match[1]] != "" {
			near, every := m.wordEdits()
			all = append(append(all, near...), every)
		}
	}
	if strings.Contains(m.text, "does not support field selection") {
		all = append(all, m.selectionEdits()...)
	}
	return append(all, m.typeEdits()...)
}

// try applies edits and compiles the result. It reports whether the result compiles, and whether at
// least this error is gone because the next error is further right.
func (m *fixer) try(edits []Edit) (compiles, gone bool) {
	fixed := Apply(m.bad.Rule, edits)
	_, err := m.context.compile(fixed)
	var bad *engine.CompileError
	if !errors.As(err, &bad) {
		return err == nil, err == nil
	}
	next, ok := newFault(bad)
	lastEnd, grown := 0, 0
	for _, e := range edits {
		lastEnd = max(lastEnd, e.End)
		grown += len([]rune(e.Text)) - (e.End - e.Start)
	}
	return false, ok && next.offset >= lastEnd+grown && next.offset > m.offset+max(grown, 0)
}

// titleOf returns a one-line description of edits.
func titleOf(src []rune, edits []Edit) string {
	short := func(text string) string { return termwidth.Cut(lex.OneLine(text), 40) }
	one := string(src[edits[0].Start:edits[0].End])
	alike := !slices.ContainsFunc(edits, func(e Edit) bool { return e.Text != edits[0].Text || string(src[e.Start:e.End]) != one })
	switch {
	case len(edits) > 1 && alike && one != "":
		return titleOf(src, edits[:1]) + " everywhere"
	case len(edits) > 1:
		from, to := len(src), 0
		for _, e := range edits {
			from, to = min(from, e.Start), max(to, e.End)
		}
		part := slices.Clone(edits)
		for i := range part {
			part[i].Start -= from
			part[i].End -= from
		}
		return "write " + short(Apply(string(src[from:to]), part))
	}
	was, is := strings.TrimSpace(string(src[edits[0].Start:edits[0].End])), strings.TrimSpace(edits[0].Text)
	switch {
	case was == "":
		return "insert " + short(is)
	case is == "":
		return "leave out " + short(was)
	}
	return fmt.Sprintf("write %s for %s", short(is), short(was))
}

// span returns the range of e in the expression, and whether it is known.
func (m *fixer) span(e ast.Expr) (Span, bool) {
	from, to, ok := m.source.Range(e)
	return Span{from, to}, ok
}

func (m *fixer) textOf(s Span) string { return string(m.src[s.Start:s.End]) }

// wrap returns edits that insert text before and after s.
func wrap(s Span, before, after string) []Edit {
	var edits []Edit
	if before != "" {
		edits = append(edits, Edit{s.Start, s.Start, before})
	}
	if after != "" {
		edits = append(edits, Edit{s.End, s.End, after})
	}
	return edits
}

// replace returns an edit that replaces s by text.
func replace(s Span, text string) []Edit { return []Edit{{s.Start, s.End, text}} }

// tokenSpan returns the range from token first to token last.
func (f *fault) tokenSpan(first, last int) Span {
	return Span{f.tokens[first].Start, f.tokens[last].End}
}
