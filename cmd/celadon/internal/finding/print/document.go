package print

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// The limits of an example object in a report for people. JSON reports have whole objects.
const (
	maxExampleText   = 200   // characters of a string
	maxExampleItems  = 20    // items of a list
	maxExampleLevels = 50    // of objects and lists
	maxExampleBytes  = 8_000 // of the YAML
)

// Document returns obj as YAML. It shortens long strings and lists, leaves out deep values, and ends with a comment
// if the object is incomplete.
func Document(obj map[string]any) string {
	short := &shortener{}
	data, err := untrusted.YAML(short.value(obj, maxExampleLevels))
	if err != nil {
		return "(cannot be shown)\n"
	}
	text := string(data)
	if len(text) > maxExampleBytes {
		text, short.used = text[:strings.LastIndex(text[:maxExampleBytes], "\n")+1], true
	}
	if short.used {
		text += "# shortened: -o json has the whole object\n"
	}
	return text
}

// A shortener shortens values. used is set if it did.
type shortener struct{ used bool }

// value returns v with shortened strings and lists, and replaces values that are nested more than levels deep. It
// does not change v.
func (s *shortener) value(v any, levels int) any {
	if levels < 0 {
		s.used = true
		return "…"
	}
	switch v := v.(type) {
	case string:
		if len(v) <= maxExampleText || utf8.RuneCountInString(v) <= maxExampleText {
			return v
		}
		s.used = true
		return fmt.Sprintf("%s (%d characters)", preview.Middle(v, maxExampleText), utf8.RuneCountInString(v))
	case []any:
		return s.list(v, levels-1)
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, below := range v {
			out[key] = s.value(below, levels-1)
		}
		return out
	}
	return v
}

// list keeps the first and the last items of a long list.
func (s *shortener) list(list []any, levels int) []any {
	const half = maxExampleItems / 2
	out := []any{}
	for i, item := range list {
		switch {
		case len(list) <= maxExampleItems || i < half || i >= len(list)-half:
			out = append(out, s.value(item, levels))
		case i == half:
			s.used = true
			out = append(out, fmt.Sprintf("… %d more items …", len(list)-2*half))
		}
	}
	return out
}
