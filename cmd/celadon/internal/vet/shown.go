package vet

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/x/analysis/lint"
)

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
		return does + " (does not fail if nothing else changes, proved: " + m.Proof.String() + ")"
	}
	return fmt.Sprintf("%s (did not fail on any of %s)", does, phrase.Count(m.Searched, "object"))
}

// shown returns the details of a lint: its example object and rewrites of the rule.
func shown(l *lint.Lint) (lines []string) {
	add := func(head, text string) {
		lines = append(lines, head)
		for line := range strings.Lines(text) {
			lines = append(lines, "  "+strings.TrimSuffix(line, "\n"))
		}
	}
	if w := l.Witness; w != nil {
		if w.Old != nil {
			add("old object:", print.Document(w.Old))
		}
		add(fmt.Sprintf("on this object (%s):", w.Operation), print.Document(w.Object))
	}
	for _, path := range l.MadeUp {
		lines = append(lines, path+" is a placeholder: its format is password")
	}
	for i := range l.Rewrites {
		add(fmt.Sprintf("fix %s:", describeRewrite(&l.Rewrites[i])), l.Rewrites[i].Rule)
	}
	return lines
}
