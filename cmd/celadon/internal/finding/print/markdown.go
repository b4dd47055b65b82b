package print

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// These limit a report in Markdown, so that the reports of several commands fit into a GitHub comment.
const (
	maxMarkdownLines = 40
	maxMarkdownBytes = 6000
	maxMarkdownText  = 400 // characters of a message
)

// markdownPrinter writes the summary of a job, or a comment. It lists the first errors and warnings, counts the
// others, and omits notes.
type markdownPrinter struct {
	w      *untrusted.Writer
	name   string
	lines  [2][]string // of errors and of warnings
	bytes  [2]int
	counts [2]int
}

func (p *markdownPrinter) Add(r finding.Result) error {
	for f := range r.Findings {
		level := slices.Index(levels[:2], f.Level)
		if f.Known || level < 0 {
			continue
		}
		p.counts[level]++
		line := string(untrusted.Sprintf("- **%s** %s: %s\n", untrusted.Safe(f.Level), Code(f.At.Place(), maxMarkdownText/2), Code(string(Sentence(f.Message)), maxMarkdownText)))
		if len(p.lines[level]) < maxMarkdownLines && p.bytes[level]+len(line) < maxMarkdownBytes {
			p.lines[level] = append(p.lines[level], line)
			p.bytes[level] += len(line)
		}
	}
	return nil
}

func (p *markdownPrinter) End(e End) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", p.name)
	more := p.counts[0] + p.counts[1]
	for _, line := range slices.Concat(p.lines[0], p.lines[1]) {
		if b.Len() < maxMarkdownBytes {
			b.WriteString(line)
			more--
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	if b.WriteByte('\n'); e.Interrupted {
		fmt.Fprintf(&b, "**%s**\n\n", Partial)
	}
	for i, line := range strings.Split(strings.TrimSpace(e.Text), "\n") {
		if i < maxMarkdownLines && b.Len() < 2*maxMarkdownBytes {
			b.WriteString("    " + preview.Middle(string(untrusted.Line(line)), maxMarkdownText) + "\n")
		}
	}
	_, err := io.WriteString(p.w, b.String())
	return err
}

// Code returns the beginning and end of text, at most limit characters, as a code span on one line, in which markup has no
// effect. It is shortened after it is escaped, because an escape sequence is longer than its character.
func Code(text string, limit int) untrusted.Safe {
	line := preview.Middle(string(untrusted.Line(text)), limit)
	marks := strings.Repeat("`", LongestFence(line)+1)
	if len(marks) > 1 || line == "" {
		line = " " + line + " "
	}
	return untrusted.Safe(marks + line + marks)
}

// LongestFence returns the length of the longest run of backticks in text.
func LongestFence(text string) (longest int) {
	n := 0
	for _, r := range text {
		if n++; r != '`' {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

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

type shortener struct{ used bool }

// value replaces long strings and lists, and values that are nested more than levels deep. It does not change v.
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
