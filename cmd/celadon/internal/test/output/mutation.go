package output

import (
	"bytes"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/linediff"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/ruletest/mutation"
)

// Survivors writes the mutants that no case kills, each as a diff with a write that would kill it,
// if one was found.
func Survivors(b *strings.Builder, r *mutation.Report) {
	for _, name := range r.Failing {
		untrusted.Fprintf(b, "skipped because it fails without any mutant: %s\n", name)
	}
	for _, m := range r.Survivors {
		survivor(b, m)
	}
}

// MutationLine writes a one-line summary of mutation testing.
func MutationLine(b *strings.Builder, r *mutation.Report) {
	untrusted.Fprintf(b, "mutation: score %.1f %%: of %s %d killed, %d survived, %d not covered", 100*r.Score, phrase.Count(r.Total, "mutant"), r.Killed, r.Survived, r.NotCovered)
	for _, rest := range []struct {
		n     int
		label string
	}{{r.Equivalent, "equivalent"}, {r.TimedOut, "timed out"}, {r.NotViable, "not viable"}} {
		if rest.n > 0 {
			untrusted.Fprintf(b, ", %d %s", rest.n, rest.label)
		}
	}
	if r.Cut > 0 {
		untrusted.Fprintf(b, "; too many mutants of %s to try all", phrase.Count(r.Cut, "rule"))
	}
	b.WriteByte('\n')
}

func survivor(b *strings.Builder, m *mutation.Mutant) {
	if m.Policy != "" {
		untrusted.Fprintf(b, "survived: policy %s: %s: %s\n", m.Policy, strings.TrimSuffix(m.Path, ".expression"), m.Operator)
	} else {
		untrusted.Fprintf(b, "survived: %s %s: %s: %s\n", m.CRD, m.Version, phrase.Path(m.Path), m.Operator)
	}
	difference(b, m.Rule, m.Changed)
	if m.Policy != "" {
		b.WriteByte('\n')
		return
	}
	if m.Test == nil {
		b.WriteString("  no write was found that would kill it\n\n")
		return
	}
	verdict, other := "rejects", "accepts"
	if m.Test.Allowed {
		verdict, other = other, verdict
	}
	untrusted.Fprintf(b, "  a test that would kill it: this %s, which the CRD %s and the mutant %s\n", string(m.Test.Operation), verdict, other)
	object(b, "object", m.Test.Object)
	if m.Test.Old != nil {
		object(b, "old object", m.Test.Old)
	}
	b.WriteByte('\n')
}

func difference(b *strings.Builder, was, is string) {
	diff := linediff.Unified("", "", lines(was), lines(is))
	if _, hunks, ok := bytes.Cut(diff, []byte("\n+++ \n")); ok {
		diff = hunks
	}
	for line := range strings.Lines(string(diff)) {
		if !strings.HasPrefix(line, "@@") {
			untrusted.Fprintf(b, "    %s\n", strings.TrimRight(line, "\r\n"))
		}
	}
}

// lines returns text with exactly one newline at its end, or nil if text is empty.
func lines(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(strings.TrimRight(text, "\n") + "\n")
}

func object(b *strings.Builder, name string, v map[string]any) {
	untrusted.Fprintf(b, "    %s:\n", name)
	for line := range strings.Lines(print.Document(v)) {
		untrusted.Fprintf(b, "      %s\n", strings.TrimRight(line, "\r\n"))
	}
}
