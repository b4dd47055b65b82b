package schema

import (
	"regexp"
	"sync"
	"unicode/utf8"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// text is what is asked of strings.
type text struct {
	maxLength, minLength *int64
	pattern              *pattern
	format               func(string) bool // nil: none that is checked
}

func (c *compiler) text(n *node, p *apiextensions.JSONSchemaProps) *text {
	t := &text{maxLength: p.MaxLength, minLength: p.MinLength, format: formatOf(n.format)}
	if p.Pattern != "" {
		if c.patterns[p.Pattern] == nil {
			c.patterns[p.Pattern] = &pattern{text: p.Pattern}
		}
		t.pattern = c.patterns[p.Pattern]
	}
	if t.maxLength == nil && t.minLength == nil && t.pattern == nil && t.format == nil {
		return nil
	}
	return t
}

func (t *text) valid(s string) bool {
	if t == nil {
		return true
	}
	return (t.maxLength == nil || !t.tooLong(s)) &&
		(t.minLength == nil || !t.tooShort(s)) &&
		(t.pattern == nil || t.pattern.match(s)) &&
		(t.format == nil || t.format(s))
}

// Lengths are in characters; there are at most as many as bytes.

func (t *text) tooLong(s string) bool {
	return int64(len(s)) > *t.maxLength && int64(utf8.RuneCountInString(s)) > *t.maxLength
}

func (t *text) tooShort(s string) bool {
	return int64(len(s)) < *t.minLength || int64(utf8.RuneCountInString(s)) < *t.minLength
}

// pattern is compiled when a string first needs it, as most never do.
type pattern struct {
	text string
	once sync.Once
	re   *regexp.Regexp
	err  error // no string matches then
}

func (p *pattern) match(s string) bool {
	p.once.Do(func() { p.re, p.err = regexp.Compile(p.text) })
	return p.err == nil && p.re.MatchString(s)
}
