package lex

import "strings"

// A Progress determines line by line whether an expression continues on the next line. Each line is read once, so that the
// time does not grow with the square of the number of lines. The zero value is ready to use.
type Progress struct {
	depth, tokens int
	// last is the last token that is not a comment, and several is set if there are tokens before it.
	last    Token
	several bool
	// open begins the long string in which the last line ended, such as r""", or is empty.
	open string
}

// Add adds a line and reports whether the expression continues on the next line, as Unfinished does for all lines so far.
func (p *Progress) Add(line string) (unfinished bool) {
	tokens := Tokens([]rune(p.open + line))
	if p.open != "" {
		p.tokens-- // the first token is the rest of the string
	}
	for _, t := range tokens {
		if t.Kind != Comment {
			p.depth += Depth(t)
			p.last, p.several = t, p.tokens > 0
		}
		p.tokens++
	}
	p.open = ""
	if n := len(tokens); n > 0 && tokens[n-1].Open {
		p.open = longStart(tokens[n-1].Text)
	}
	return p.last.Text != "" && unfinishedAfter(p.last, p.depth, p.several)
}

// InString reports whether the last line ended in a long string, so that the next line is a part of it.
func (p *Progress) InString() bool { return p.open != "" }

// longStart returns the start of a long string, with its prefix and quotes, or "" if text is another token.
func longStart(text string) string {
	quote := len(text) - len(strings.TrimLeft(text, "rRbB"))
	if strings.HasPrefix(text[quote:], `"""`) || strings.HasPrefix(text[quote:], "'''") {
		return text[:quote+3]
	}
	return ""
}
