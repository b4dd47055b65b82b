package test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/linediff"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/ruletest/coverage"
	"github.com/celadon-cel/celadon/x/ruletest/mutation"
)

const maxListed = 10

func coverageRules(b *strings.Builder, r *coverage.Report) {
	for i := range r.Items {
		itemText(b, &r.Items[i])
	}
}

func coverageLine(b *strings.Builder, r *coverage.Report) {
	untrusted.Fprintf(b, "coverage: %.1f %%: ", r.Percent())
	if r.Rules > 0 || r.Policies == nil {
		untrusted.Fprintf(b, "of %s, %d ran and %d rejected; ", phrase.Count(r.Rules, "rule"), r.Ran, r.Rejected)
	}
	if p := r.Policies; p != nil {
		untrusted.Fprintf(b, "of %s, %d ran and %d were false; ", phrase.Count(p.Expressions, "policy expression"), p.Ran, p.False)
		if p.Variables > 0 {
			untrusted.Fprintf(b, "of %s, %d ran; ", phrase.Count(p.Variables, "variable"), p.Evaluated)
		}
	}
	untrusted.Fprintf(b, "of %s, %d were both true and false\n", phrase.Count(r.Conditions, "condition"), r.Both)
}

func itemText(b *strings.Builder, item *coverage.Item) {
	gaps := item.Gaps()
	if len(gaps) == 0 && item.Unmeasured == "" {
		return
	}
	if item.Policy != "" {
		untrusted.Fprintf(b, "%s: ran %s, false %s\n", policyItem(item), phrase.Count(item.Ran, "time"), phrase.Count(item.Rejected, "time"))
	} else {
		untrusted.Fprintf(b, "%s %s: %s, rule %d: ran %s, rejected %s\n", item.CRD, item.Version, phrase.Path(item.Path), item.Index, phrase.Count(item.Ran, "time"), phrase.Count(item.Rejected, "time"))
	}
	underlined(b, item.Rule, gaps)
	for i, gap := range gaps {
		if i == maxListed {
			untrusted.Fprintf(b, "  and %d more\n", len(gaps)-maxListed)
			break
		}
		untrusted.Fprintf(b, "  %s\n", gap.Text)
	}
	if item.Unmeasured != "" {
		untrusted.Fprintf(b, "  its conditions are not measured: %s\n", item.Unmeasured)
	}
	b.WriteByte('\n')
}

func policyItem(item *coverage.Item) string {
	text := fmt.Sprintf("policy %s: %s", item.Policy, strings.TrimSuffix(item.Path, ".expression"))
	if item.Name != "" {
		text += " (" + item.Name + ")"
	}
	return text
}

const maxColumns = 200

// underlined writes a rule line by line, and marks uncovered parts on an extra line below. A gap that
// spans the whole rule is only underlined if it is the only gap.
func underlined(b *strings.Builder, rule string, gaps []coverage.Gap) {
	all := []rune(rule)
	marked := make([]bool, len(all))
	for _, gap := range gaps {
		if gap.End-gap.Start == len(all) && len(gaps) > 1 {
			continue
		}
		for i := gap.Start; i < min(gap.End, len(all)); i++ {
			marked[i] = true
		}
	}
	at := 0
	for _, line := range strings.SplitAfter(rule, "\n") {
		n := len([]rune(line))
		text, below := &strings.Builder{}, &strings.Builder{}
		columns := 0
		for i, r := range []rune(strings.TrimRight(line, "\r\n")) {
			piece := string(untrusted.Line(string(r)))
			if r == '\t' {
				piece = "    "
			}
			width := termwidth.Width(piece)
			if columns += width; columns > maxColumns {
				text.WriteString("…")
				break
			}
			text.WriteString(piece)
			mark := " "
			if marked[at+i] && r != ' ' && r != '\t' {
				mark = "~"
			}
			below.WriteString(strings.Repeat(mark, width))
		}
		at += n
		if strings.TrimSpace(text.String()) == "" {
			continue
		}
		b.WriteString("    " + text.String() + "\n")
		if marks := strings.TrimRight(below.String(), " "); marks != "" {
			b.WriteString("    " + marks + "\n")
		}
	}
}

func survivors(b *strings.Builder, r *mutation.Report) {
	for _, name := range r.Failing {
		untrusted.Fprintf(b, "skipped because it fails without any mutant: %s\n", name)
	}
	for _, m := range r.Survivors {
		survivor(b, m)
	}
}

func mutationLine(b *strings.Builder, r *mutation.Report) {
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
