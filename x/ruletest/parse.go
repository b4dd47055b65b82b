package ruletest

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// Kind and APIVersion identify suites in Celadon's own format.
const (
	Kind       = "RuleTest"
	APIVersion = "celadon/v1"
)

// Holds reports whether a decoded document is a suite, judging by its content.
func Holds(v any) bool {
	doc, _ := v.(map[string]any)
	if doc == nil {
		return false
	}
	apiVersion, _ := doc["apiVersion"].(string)
	kind, _ := doc["kind"].(string)
	if kind == Kind || strings.HasPrefix(apiVersion, "celadon/") {
		return true
	}
	if kind != "" {
		return false
	}
	tests, _ := doc["tests"].(map[string]any)
	_, named := doc["crdName"]
	return named || hasKey(tests, "onCreate") || hasKey(tests, "onUpdate") || hasKey(doc, "onCreate") || hasKey(doc, "onUpdate")
}

func hasKey(m map[string]any, key string) bool {
	_, ok := m[key]
	return ok
}

// Parse parses a YAML document. line is the number of its first line in file. Errors are reported
// in the Problems of the suite and its cases.
func Parse(file string, line int, text []byte) *Suite {
	return parse(file, line, text, decode.Decode)
}

// ParseDecoded parses a document like Parse, if it is already decoded and has no duplicate keys.
// The suite shares memory with decoded, which must not be modified.
func ParseDecoded(file string, line int, text []byte, decoded map[string]any) *Suite {
	return parse(file, line, text, func([]byte) (any, error, error) { return decoded, nil, nil })
}

func parse(file string, line int, text []byte, decode func([]byte) (v any, duplicate, err error)) *Suite {
	s := &Suite{File: file, Position: Position{line, 1}}
	fail := func(message string) *Suite {
		s.Problems = append(s.Problems, Problem{s.Position, message})
		return s
	}
	if len(text) > maxText {
		return fail(tooMany("bytes", len(text), maxText))
	}
	v, duplicate, err := decode(text)
	if err != nil {
		return fail(plainly(err, s, text))
	}
	doc, err := position.Parse(text)
	if err != nil {
		return fail(plainly(err, s, text))
	}
	r := &reader{doc: doc, line: line}
	s.reader, s.Position = r, r.positionOf(doc.Root)
	m, ok := v.(map[string]any)
	if !ok {
		return fail("not a suite: want a mapping")
	}
	if m["kind"] == Kind {
		r.own(s, m)
	} else {
		r.openShift(s, m)
	}
	if duplicate != nil && !s.broken() && len(r.problems) == 0 {
		r.addProblem(doc.Root, "%s", plainMessage(duplicate))
	}
	s.Problems = append(s.Problems, r.problems...)
	if len(s.Cases) == 0 && len(s.Problems) == 0 {
		return fail("an empty suite: it has no test")
	}
	return s
}

// plainly returns a decoder's error message and sets the position of the suite to the error's line.
// The decoder may count one line more than the text has.
func plainly(err error, s *Suite, text []byte) string {
	if match := yamlLine.FindStringSubmatch(err.Error()); match != nil {
		n, _ := strconv.Atoi(match[1])
		s.Position = Position{s.Position.Line + min(n-1, bytes.Count(text, []byte("\n"))), 1}
	}
	return plainMessage(err)
}

// broken reports whether a case has a problem.
func (s *Suite) broken() bool {
	for _, c := range s.Cases {
		if c.Problem != nil {
			return true
		}
	}
	return false
}

// add adds a case. The first problem found since mark becomes the problem of the case.
func (r *reader) add(s *Suite, c *Case, mark int) {
	if len(r.problems) > mark {
		first := r.problems[mark]
		c.Problem = &first
		r.problems = slices.Delete(r.problems, mark, mark+1)
	}
	s.Cases = append(s.Cases, c)
}
