package vet

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/internal/yaml/emit"
	"github.com/celadon-cel/celadon/x/analysis/lint"
)

// describeRewrite describes a rewrite.
func describeRewrite(m *lint.Rewrite) string {
	switch {
	case m.Effect == lint.Wanted:
		return "that decides other objects differently (check it)"
	case m.Effect == lint.Equivalent && m.Proof != nil:
		return "that is equivalent (proved: " + m.Proof.String() + ")"
	case m.Effect == lint.Equivalent:
		return fmt.Sprintf("that is equivalent (same result for each of %s)", phrase.Count(m.Searched, "object"))
	}
	does := "that accepts more than now"
	if m.Keeps {
		does = "that rejects it with the rule's own message"
	}
	if m.Proof != nil {
		return does + " (never fails, proved: " + m.Proof.String() + ")"
	}
	return fmt.Sprintf("%s (did not fail on any of %s)", does, phrase.Count(m.Searched, "object"))
}

// shown returns the details of a lint: its example object and rewrites of the rule.
func shown(l *lint.Lint) (lines []string) {
	if w := l.Witness; w != nil {
		if w.Old != nil {
			lines = append(lines, "old object: "+compact(w.Old))
		}
		lines = append(lines, fmt.Sprintf("object (%s): %s", w.Operation, compact(w.Object)))
	}
	for _, path := range l.MadeUp {
		lines = append(lines, path+" is a placeholder: its format is password")
	}
	for i := range l.Rewrites {
		lines = append(lines, fmt.Sprintf("fix %s: %s", describeRewrite(&l.Rewrites[i]), lex.Flat(l.Rewrites[i].Rule)))
	}
	return lines
}

func compact(obj map[string]any) string {
	text, err := json.Marshal(obj)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// shown writes the details of a lint for people, with objects as YAML.
func (p *textPrinter) shown(b *strings.Builder, l *lint.Lint) {
	if w := l.Witness; w != nil {
		if w.Old != nil {
			p.object(b, "old object", w.Old)
		}
		p.object(b, fmt.Sprintf("on this object (%s)", w.Operation), w.Object)
	}
	for _, path := range l.MadeUp {
		p.line(b, 10, untrusted.Sprintf("%s is a placeholder: its format is password", path))
	}
	for i := range l.Rewrites {
		m := &l.Rewrites[i]
		p.line(b, 8, untrusted.Sprintf("fix %s:", describeRewrite(m)))
		for line := range strings.Lines(m.Rule) {
			p.line(b, 10, untrusted.Line(strings.TrimSuffix(line, "\n")))
		}
	}
}

func (p *textPrinter) object(b *strings.Builder, title string, obj map[string]any) {
	text, err := emit.YAML(obj)
	if err != nil {
		text = []byte(err.Error())
	}
	p.line(b, 8, untrusted.Safe(title+":"))
	for line := range strings.Lines(string(text)) {
		untrusted.Fprintf(b, "          %s\n", strings.TrimSuffix(line, "\n"))
	}
}
