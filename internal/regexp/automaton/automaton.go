// Package automaton finds texts that some patterns match and others do not, or
// proves that there are none.
//
//	host, err := automaton.Compile(`^[a-z]+\.example$`)
//	odd, err := automaton.Prefix("x")
//	found := host.And(odd.Not()).Find(automaton.Search{MinLength: 10})
//	found.Texts // "aa.example"
//
// Patterns are those of CEL's matches, which are Go's (regexp/syntax), and match
// anywhere in a text unless they are anchored. Lengths count code points, as CEL
// and maxLength do.
package automaton

// How it works: a Language is a boolean tree over patterns. Find walks through
// the texts, the shortest first, with all patterns at once. Each pattern is a
// lazy deterministic automaton (machine.go) over classes of code points that no
// pattern tells apart (alphabet.go), so that a text's fate is a tuple of small
// numbers, and no tuple is looked at twice (find.go).

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

// ErrTooLarge is a pattern, or a text, that would have too many states.
var ErrTooLarge = errors.New("pattern too large: want fewer repetitions")

// maxInstructions is above every pattern of a real CRD by far.
const maxInstructions = 20_000

// Language is a set of texts. It is immutable.
type Language struct {
	op       op
	pattern  *syntax.Prog // of a leaf
	operands []*Language
}

type op uint8

const (
	leaf op = iota
	and
	or
	not
)

// All has every text.
func All() *Language { return &Language{op: and} }

// Compile is the language of the texts that a pattern matches.
func Compile(pattern string) (*Language, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if len(prog.Inst) > maxInstructions {
		return nil, ErrTooLarge
	}
	return &Language{op: leaf, pattern: prog}, nil
}

// Text has one text only.
func Text(text string) (*Language, error) { return quoted(`\A`, text, `\z`) }

// Prefix has the texts that begin with one.
func Prefix(text string) (*Language, error) { return quoted(`\A`, text, ``) }

// Suffix has the texts that end with one.
func Suffix(text string) (*Language, error) { return quoted(``, text, `\z`) }

// Containing has the texts that have one within them.
func Containing(text string) (*Language, error) { return quoted(``, text, ``) }

func quoted(before, text, after string) (*Language, error) {
	return Compile(before + regexp.QuoteMeta(text) + after)
}

// And has the texts that are in l and in all others.
func (l *Language) And(others ...*Language) *Language {
	return &Language{op: and, operands: append([]*Language{l}, others...)}
}

// Or has the texts that are in l or in one of the others.
func (l *Language) Or(others ...*Language) *Language {
	return &Language{op: or, operands: append([]*Language{l}, others...)}
}

// Not has the texts that are not in l.
func (l *Language) Not() *Language {
	return &Language{op: not, operands: []*Language{l}}
}

// truth is what is known of a text that may go on.
type truth uint8

const (
	unknown truth = iota
	always
	never
)

// Size returns the number of instructions of the patterns in l. To compile them, or to
// begin a search in them, takes as much work.
func (l *Language) Size() (n int) {
	for _, p := range l.leaves(nil) {
		n += len(p.Inst)
	}
	return n
}

// value is what is known of a language, given what is known of its leaves, in
// their order; next is the index of the first leaf behind it.
func (l *Language) value(leaves []truth, first int) (v truth, next int) {
	switch l.op {
	case leaf:
		return leaves[first], first + 1
	case not:
		v, next = l.operands[0].value(leaves, first)
		return opposite(v), next
	}
	// or is and with everything turned round.
	rest, stop := always, never
	if l.op == or {
		rest, stop = never, always
	}
	result, next := rest, first
	for _, operand := range l.operands {
		v, next = operand.value(leaves, next)
		switch {
		case v == stop:
			result = stop
		case v == unknown && result != stop:
			result = unknown
		}
	}
	return result, next
}

func opposite(v truth) truth {
	switch v {
	case always:
		return never
	case never:
		return always
	}
	return unknown
}

// leaves are the patterns of the tree, in order.
func (l *Language) leaves(all []*syntax.Prog) []*syntax.Prog {
	if l.op == leaf {
		return append(all, l.pattern)
	}
	for _, operand := range l.operands {
		all = operand.leaves(all)
	}
	return all
}
