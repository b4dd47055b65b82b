package schema

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/regexp/automaton"
	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

// text holds the checks of strings.
type text struct {
	maxLength, minLength *int64
	pattern              *pattern
	format               func(string) bool // nil if the format is not checked
}

func (c *compiler) text(n *node, p *apiextensionsv1.JSONSchemaProps) *text {
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

func (t *text) valid(s string, m *meter) bool {
	if t == nil {
		return true
	}
	return (t.maxLength == nil || !t.tooLong(s)) &&
		(t.minLength == nil || !t.tooShort(s)) &&
		(t.pattern == nil || t.pattern.match(s, m)) &&
		(t.format == nil || t.formatted(s, m))
}

// Lengths are in characters. A string has at most as many characters as bytes.

func (t *text) tooLong(s string) bool {
	return int64(len(s)) > *t.maxLength && int64(utf8.RuneCountInString(s)) > *t.maxLength
}

func (t *text) tooShort(s string) bool {
	return int64(len(s)) < *t.minLength || int64(utf8.RuneCountInString(s)) < *t.minLength
}

// A pattern is compiled on first use, because most are never used. After many uses it gets a
// transition table.
type pattern struct {
	text  string
	once  sync.Once
	re    *regexcost.Pattern
	err   error // if set, no string matches
	uses  atomic.Int32
	table atomic.Pointer[automaton.Table] // nil if not built yet or too large
}

// often is the number of uses after which a table pays off.
const often = 100

func (p *pattern) match(s string, m *meter) bool {
	p.once.Do(func() { p.re, p.err = regexcost.New(p.text) })
	if p.err != nil {
		return false
	}
	if p.re.TooLarge() {
		m.stop(fmt.Sprintf("pattern %q has more than %d states", preview.Bytes(p.text, maxShown), regexcost.MaxStates))
	}
	if m.left -= len(s) * p.re.PerByte(); m.left < 0 {
		m.stop(fmt.Sprintf("a match of pattern %q on %d bytes", preview.Bytes(p.text, maxShown), len(s)))
	}
	if t := p.table.Load(); t != nil {
		if matches, ok := t.Matches(s); ok {
			return matches
		}
	} else if p.uses.Load() < often && p.uses.Add(1) == often {
		if l, err := automaton.Compile(p.text); err == nil {
			p.table.Store(l.Table())
		}
	}
	return p.re.MatchString(s)
}

// perFormatted is the work for each byte of a string with a format.
const perFormatted = 100

func (t *text) formatted(s string, m *meter) bool {
	m.spend(perFormatted * len(s))
	return t.format(s)
}
