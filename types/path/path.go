// Package path reads and writes paths into objects and schemas, such as
// "spec.hosts[2].labels['a.b'][*]".
package path

import (
	"fmt"
	"strconv"
	"strings"
)

// Step is one step of a path into an object or a schema.
type Step struct {
	Name  string // a field, or a map's key
	Item  bool   // Index of a list
	Index int
	Any   bool // [*]: any item or entry
}

// Parse reads "spec.hosts[2].labels['a.b'][*]". The form "spec.labels[a]"
// of the API server's causes is read too.
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
		return Step{}, "", fmt.Errorf("empty brackets: want an index, a quoted key or *")
	}
	return Step{Name: inside}, rest, nil
}

// Format returns the text from which Parse reads the steps.
func Format(steps []Step) string {
	var b strings.Builder
	for _, s := range steps {
		s.write(&b)
	}
	return b.String()
}

// Child returns the path of a field, in Format's form, below a path in that form.
func Child(parent, name string) string {
	var b strings.Builder
	b.WriteString(parent)
	Step{Name: name}.write(&b)
	return b.String()
}

// write adds the step to a path.
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
