// Package path parses and formats paths in objects and schemas, such as
// "spec.hosts[2].labels['a.b'][*]".
package path

import (
	"fmt"
	"strconv"
	"strings"
)

// A Step is an element of a path.
type Step struct {
	Name  string // name of a field or key of a map
	Item  bool   // set for an item of a list; Index is its index
	Index int
	Any   bool // set for [*]: any item or entry
}

// Parse parses a path such as "spec.hosts[2].labels['a.b'][*]". It also accepts the form
// "spec.labels[a]", which the API server uses in causes.
func Parse(text string) ([]Step, error) {
	var steps []Step
	rest := strings.TrimPrefix(text, ".")
	for rest != "" {
		step, after, err := nextStep(rest)
		if err != nil {
			return nil, fmt.Errorf("path %q: at %q: %w", text, rest, err)
		}
		steps = append(steps, step)
		rest = after
	}
	return steps, nil
}

func nextStep(s string) (step Step, rest string, err error) {
	if s[0] == '[' {
		return bracket(s)
	}
	s = strings.TrimPrefix(s, ".")
	end := strings.IndexAny(s, ".[")
	if end < 0 {
		end = len(s)
	}
	if end == 0 {
		return Step{}, "", fmt.Errorf("a field's name is missing")
	}
	return Step{Name: s[:end]}, s[end:], nil
}

func bracket(s string) (step Step, rest string, err error) {
	if quote := s[1:min(2, len(s))]; quote == "'" || quote == `"` {
		end := strings.Index(s[2:], quote+"]")
		if end < 0 {
			return Step{}, "", fmt.Errorf("unclosed quote")
		}
		return Step{Name: s[2 : 2+end]}, s[2+end+2:], nil
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return Step{}, "", fmt.Errorf("unclosed bracket")
	}
	inside, rest := s[1:end], s[end+1:]
	switch n, err := strconv.Atoi(inside); {
	case inside == "*":
		return Step{Any: true}, rest, nil
	case err == nil && strconv.Itoa(n) == inside && n >= 0: // "007" is a key
		return Step{Item: true, Index: n}, rest, nil
	case inside == "":
		return Step{}, "", fmt.Errorf("empty brackets: want an index, a quoted key, or *")
	}
	return Step{Name: inside}, rest, nil
}

// Format returns the path for steps in the form that Parse accepts.
func Format(steps []Step) string {
	var b strings.Builder
	for _, s := range steps {
		s.write(&b)
	}
	return b.String()
}

// Child returns the path of a field below parent. Both paths are in Format's form.
func Child(parent, name string) string {
	var b strings.Builder
	b.WriteString(parent)
	Step{Name: name}.write(&b)
	return b.String()
}

func (s Step) write(b *strings.Builder) {
	switch {
	case s.Any:
		b.WriteString("[*]")
	case s.Item:
		fmt.Fprintf(b, "[%d]", s.Index)
	case strings.ContainsAny(s.Name, ".[]'\" ") || s.Name == "":
		quote := "'"
		if strings.Contains(s.Name, "']") {
			quote = `"`
		}
		fmt.Fprintf(b, "[%s%s%s]", quote, s.Name, quote)
	default:
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.Name)
	}
}
