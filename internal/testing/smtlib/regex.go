package smtlib

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
)

// How it works: a term of sort RegLan matches whole strings, but a pattern
// matches anywhere in a string unless it is anchored. So a pattern gets re.all at
// each end without an anchor. Anchors are supported at the ends of a pattern and
// of its alternatives. Other anchors and word boundaries cannot be expressed.
//
// SMT-LIB has fewer characters than Unicode. The characters after lastRune
// represent the missing characters. This is exact if no class of the pattern
// begins or ends among them. Other patterns cannot be expressed.

// Regex converts a pattern for CEL's matches to a term of sort RegLan.
func Regex(pattern string) (string, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", err
	}
	w := &regexWriter{left: maxTerm}
	term := w.anywhere(re)
	if w.left < 0 {
		w.bad = true
	}
	if w.bad {
		return "", fmt.Errorf("pattern: %w", ErrNotExpressible)
	}
	return term, nil
}

// maxTerm limits the bytes of a term.
const maxTerm = 256 << 10

type regexWriter struct {
	left int
	bad  bool // the pattern cannot be expressed
}

// anywhere returns a term for the strings in which a pattern matches.
func (w *regexWriter) anywhere(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpCapture:
		return w.anywhere(re.Sub[0])
	case syntax.OpAlternate:
		terms := make([]string, len(re.Sub))
		for i, sub := range re.Sub {
			terms[i] = w.anywhere(sub)
		}
		return w.joined("re.union", terms, "re.none")
	case syntax.OpConcat:
		return w.anchored(re.Sub)
	}
	return w.anchored([]*syntax.Regexp{re})
}

func (w *regexWriter) anchored(parts []*syntax.Regexp) string {
	before, after := []string{"re.all"}, []string{"re.all"}
	for len(parts) > 0 && parts[0].Op == syntax.OpBeginText {
		before, parts = nil, parts[1:]
	}
	for len(parts) > 0 && parts[len(parts)-1].Op == syntax.OpEndText {
		after, parts = nil, parts[:len(parts)-1]
	}
	terms := before
	for _, part := range parts {
		terms = append(terms, w.term(part))
	}
	return w.joined("re.++", append(terms, after...), `(str.to_re "")`)
}

// term returns a term for the strings that a pattern matches from beginning to end.
func (w *regexWriter) term(re *syntax.Regexp) string {
	if w.bad || w.left < 0 {
		return "re.none"
	}
	switch re.Op {
	case syntax.OpNoMatch:
		return "re.none"
	case syntax.OpEmptyMatch:
		return `(str.to_re "")`
	case syntax.OpLiteral:
		return w.literal(re)
	case syntax.OpCharClass:
		return w.class(re.Rune)
	case syntax.OpAnyChar:
		return "re.allchar"
	case syntax.OpAnyCharNotNL:
		return w.class([]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune})
	case syntax.OpCapture:
		return w.term(re.Sub[0])
	case syntax.OpConcat:
		return w.joined("re.++", w.terms(re.Sub), `(str.to_re "")`)
	case syntax.OpAlternate:
		return w.joined("re.union", w.terms(re.Sub), "re.none")
	case syntax.OpStar:
		return w.wrote("(re.* " + w.term(re.Sub[0]) + ")")
	case syntax.OpPlus:
		return w.wrote("(re.+ " + w.term(re.Sub[0]) + ")")
	case syntax.OpQuest:
		return w.wrote("(re.opt " + w.term(re.Sub[0]) + ")")
	case syntax.OpRepeat:
		sub := w.term(re.Sub[0])
		if re.Max < 0 {
			return w.wrote(fmt.Sprintf("(re.++ ((_ re.loop %d %d) %s) (re.* %s))", re.Min, re.Min, sub, sub))
		}
		return w.wrote(fmt.Sprintf("((_ re.loop %d %d) %s)", re.Min, re.Max, sub))
	}
	w.bad = true
	return "re.none"
}

func (w *regexWriter) terms(subs []*syntax.Regexp) []string {
	terms := make([]string, len(subs))
	for i, sub := range subs {
		terms[i] = w.term(sub)
	}
	return terms
}

func (w *regexWriter) joined(with string, terms []string, none string) string {
	switch len(terms) {
	case 0:
		return none
	case 1:
		return terms[0]
	}
	return w.wrote("(" + with + " " + strings.Join(terms, " ") + ")")
}

func (w *regexWriter) wrote(term string) string {
	w.left -= len(term)
	if w.left < 0 {
		return "re.none" // Regex returns an error for it
	}
	return term
}

func (w *regexWriter) literal(re *syntax.Regexp) string {
	if re.Flags&syntax.FoldCase == 0 {
		text, err := Text(string(re.Rune))
		w.bad = w.bad || err != nil
		return w.wrote("(str.to_re " + text + ")")
	}
	terms := make([]string, len(re.Rune))
	for i, r := range re.Rune {
		class := []rune{r, r}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			class = append(class, f, f)
		}
		terms[i] = w.class(class)
	}
	return w.joined("re.++", terms, `(str.to_re "")`)
}

func (w *regexWriter) class(ranges []rune) string {
	var terms []string
	for i := 0; i+1 < len(ranges); i += 2 {
		low, high := ranges[i], ranges[i+1]
		if low > lastRune || high >= lastRune && high != unicode.MaxRune {
			w.bad = true
		}
		if high == unicode.MaxRune {
			high = maxRune
		}
		terms = append(terms, w.wrote("(re.range "+quoted(low)+" "+quoted(high)+")"))
	}
	return w.joined("re.union", terms, "re.none")
}
