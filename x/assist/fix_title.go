package assist

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

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

// widened returns an edit with the same result that replaces whole tokens by whole tokens, and brackets
// together with the tokens between them.
func widened(src []rune, e Edit) Edit {
	text := []rune(e.Text)
	for e.Start == e.End && e.Start > 0 && len(text) > 0 && text[len(text)-1] == src[e.Start-1] && (src[e.Start-1] == '.' || lex.LetterOrDigit(src[e.Start-1])) {
		text = append([]rune{src[e.Start-1]}, text[:len(text)-1]...) // "x || self." after "self." is "self.x || " before it
		e = Edit{e.Start - 1, e.End - 1, string(text)}
	}
	for {
		after := []rune(Apply(string(src), []Edit{e}))
		end := e.Start + len([]rune(e.Text))
		left1, right1 := missingParts(src, e.Start, e.End)
		left2, right2 := missingParts(after, e.Start, end)
		left, right := max(left1, left2), max(right1, right2)
		if left+right == 0 {
			return e
		}
		e = Edit{e.Start - left, e.End + right, string(after[e.Start-left : end+right])}
	}
}

// missingParts returns how many characters to the left and to the right have to be added to a range so that
// it contains whole tokens. If it already does, but contains a bracket without its pair, missingParts returns
// how many have to be added to include the adjacent token.
func missingParts(src []rune, from, to int) (left, right int) {
	tokens := lex.Tokens(src)
	depth, lowest := 0, 0
	for _, t := range tokens {
		if t.Start < from && from < t.End {
			left = from - t.Start
		}
		if t.Start < to && to < t.End {
			right = t.End - to
		}
		if t.Start >= from && t.End <= to {
			depth += lex.Depth(t)
			lowest = min(lowest, depth)
		}
	}
	if left+right > 0 {
		return left, right
	}
	for _, t := range tokens {
		if t.End <= from && lowest < 0 {
			left = from - t.Start
		}
		if t.Start >= to && depth > lowest && right == 0 {
			right = t.End - to
		}
	}
	return left, right
}

func (m *fixer) span(e ast.Expr) (Span, bool) {
	from, to, ok := m.source.Range(e)
	return Span{from, to}, ok
}

func (m *fixer) textOf(s Span) string { return string(m.src[s.Start:s.End]) }

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

func replace(s Span, text string) []Edit { return []Edit{{s.Start, s.End, text}} }

func (f *fault) tokenSpan(first, last int) Span {
	return Span{f.tokens[first].Start, f.tokens[last].End}
}
