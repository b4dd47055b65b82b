// Package automaton finds strings that match some patterns and not others, or proves that no such
// string exists.
//
//	host, err := automaton.Compile(`^[a-z]+\.example$`)
//	odd, err := automaton.Prefix("x")
//	found := host.And(odd.Not()).Find(automaton.Search{MinLength: 10})
//	found.Texts // "aa.example"
//
// Patterns use the syntax of CEL's matches function, which is Go's (regexp/syntax). Unless
// anchored, they match anywhere in a string. Lengths count code points, as in CEL and maxLength.
package automaton

// How it works: a Language is a boolean expression over patterns. Find explores strings in order of length, and runs
// all patterns in parallel. Each pattern is a lazy deterministic automaton (machine.go) over classes of code points
// that no pattern distinguishes. The state of the search for a string is thus a tuple of small integers, and the
// successors of each tuple are computed only once (find.go).

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
)

// ErrTooLarge is returned for a pattern or string that would need too many states.
var ErrTooLarge = errors.New("pattern too large: use fewer repetitions")

const maxInstructions = 20_000

// A Language is a set of strings. It is immutable.
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

// All returns the language of all strings.
func All() *Language { return &Language{op: and} }

// Compile returns the language of the strings that pattern matches.
func Compile(pattern string) (*Language, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if states, err := regexcost.States(pattern); err != nil || states > 2*maxInstructions {
		return nil, ErrTooLarge // compiling it would take hundreds of megabytes
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

// Text returns the language that contains only text.
func Text(text string) (*Language, error) { return quoted(`\A`, text, `\z`) }

// Prefix returns the language of the strings that begin with text.
func Prefix(text string) (*Language, error) { return quoted(`\A`, text, ``) }

// Suffix returns the language of the strings that end with text.
func Suffix(text string) (*Language, error) { return quoted(``, text, `\z`) }

// Containing returns the language of the strings that contain text.
func Containing(text string) (*Language, error) { return quoted(``, text, ``) }

func quoted(before, text, after string) (*Language, error) {
	return Compile(before + regexp.QuoteMeta(text) + after)
}

// And returns the intersection of l and others.
func (l *Language) And(others ...*Language) *Language {
	return &Language{op: and, operands: append([]*Language{l}, others...)}
}

// Or returns the union of l and others.
func (l *Language) Or(others ...*Language) *Language {
	return &Language{op: or, operands: append([]*Language{l}, others...)}
}

// Not returns the complement of l.
func (l *Language) Not() *Language {
	return &Language{op: not, operands: []*Language{l}}
}

// truth is the known membership of a string and all its continuations.
type truth uint8

const (
	unknown truth = iota
	always
	never
)

// Size returns the number of instructions of the patterns in l. The work to compile them, or to
// start a search, is proportional to it.
func (l *Language) Size() (n int) {
	for _, p := range l.leaves(nil) {
		n += len(p.Inst)
	}
	return n
}

// next is the index of the first leaf after l.
func (l *Language) value(leaves []truth, first int) (v truth, next int) {
	switch l.op {
	case leaf:
		return leaves[first], first + 1
	case not:
		v, next = l.operands[0].value(leaves, first)
		return opposite(v), next
	}
	// By De Morgan's laws, or is and with opposite values.
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

func (l *Language) leaves(all []*syntax.Prog) []*syntax.Prog {
	if l.op == leaf {
		return append(all, l.pattern)
	}
	for _, operand := range l.operands {
		all = operand.leaves(all)
	}
	return all
}
