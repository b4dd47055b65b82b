package assist

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// maxEnds limits how many positions are tried for a missing bracket, or for the removal of a bracket.
const maxEnds = 40

// quoteEnds closes a string whose closing quote is missing. It also corrects quotes that do not match.
func (m *fixer) quoteEnds() (all [][]Edit) {
	end := m.end()
	for _, t := range m.tokens {
		if t.Kind != lex.String {
			continue
		}
		quote, _ := lex.StringPrefix(m.src, t.Start)
		q := string(m.src[quote])
		after := quote + len(q)
		for after < t.End && (lex.LetterOrDigit(m.src[after]) || strings.ContainsRune("-./:", m.src[after])) {
			after++
		}
		if after > quote+len(q) && after < t.End-1 {
			all = append(all, []Edit{{after, after, q}})
		}
		if t.Open && after >= end {
			all = append(all, []Edit{{end, end, q}})
		}
		if other := map[string]string{"'": `"`, `"`: "'"}[q]; t.Open && strings.HasSuffix(m.textOf(Span{quote, end}), other) { // "a'
			all = append(all, []Edit{{end - 1, end, q}})
		}
		all = append(all, m.otherQuotes(t))
		for at := end; t.Open && at > quote+1 && strings.ContainsRune(")]}", m.src[at-1]); at-- {
			all = append(all, []Edit{{at - 1, at - 1, q}})
		}
	}
	return all
}

// otherQuotes puts other quotes around a string that contains its own, such as 'it's'.
func (m *fixer) otherQuotes(t lex.Token) []Edit {
	quote := map[string]string{"'": `"`, `"`: "'"}[t.Text[:1]]
	for _, end := range m.tokens {
		if quote != "" && !t.Open && end.Open && end.Start > t.End && end.Text[:1] == t.Text[:1] {
			return []Edit{{t.Start, t.Start + 1, quote}, {end.Start, end.Start + 1, quote}}
		}
	}
	return nil
}

func (m *fixer) end() int {
	end := len(m.src)
	for end > 0 && strings.ContainsRune(" \n\t", m.src[end-1]) {
		end--
	}
	return end
}

// closingEdits closes an open bracket or removes a closing bracket without a counterpart, at up to maxEnds positions.
// It closes several brackets only at the end.
func (m *fixer) closingEdits() (all [][]Edit) {
	var open []int
	missing, extra := "", -1
	for i, t := range m.tokens {
		switch {
		case lex.Depth(t) > 0:
			open = append(open, i)
		case lex.Depth(t) < 0 && len(open) == 0:
			extra = i
		case lex.Depth(t) < 0:
			open = open[:len(open)-1]
		}
	}
	for _, i := range slices.Backward(open) {
		missing += map[string]string{"(": ")", "[": "]", "[?": "]", "{": "}"}[m.at(i)]
	}
	switch {
	case extra >= 0 && len(open) == 0:
		for i, t := range m.tokens[:extra+1] {
			if t.Text == m.at(extra) && len(all) < maxEnds {
				all = append(all, replace(m.tokenSpan(i, i), ""))
			}
		}
	case len(missing) == 1:
		for i := len(m.tokens) - 1; i > open[0] && len(all) < maxEnds; i-- {
			at := m.tokens[i].End
			if next := m.at(i + 1); next != "." && next != "(" {
				all = append(all, []Edit{{at, at, missing}})
			}
		}
	case missing != "":
		all = append(all, []Edit{{m.end(), m.end(), missing}})
	}
	return all
}
