package print

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

func (p *textPrinter) End(s *finding.Summary) error {
	var b strings.Builder
	if !p.Quiet {
		counts(&b, s)
	}
	accepted := s.CRDs == nil || s.CRDs.Rejected+s.CRDs.Undecided == 0
	if s.Invalid == 0 && len(s.Missing) == 0 && accepted && s.Unreadable == 0 && s.Undecided == 0 {
		text := b.String()
		b.Reset()
		b.WriteString(p.paint(untrusted.Green, untrusted.Safe(text)))
	}
	text := p.layout().Text(b.String())
	b.Reset()
	b.WriteString(text)
	tables(&b, s) // whose rows must not be folded
	_, err := io.WriteString(p.w, b.String())
	return err
}

func counts(b *strings.Builder, s *finding.Summary) {
	if s.Omitted > 0 {
		untrusted.Fprintf(b, "%s not shown\n", phrase.Count(s.Omitted, "more finding"))
	}
	untrusted.Fprintf(b, "%s checked: %d valid, %d invalid", phrase.Count(s.Checked, "object"), s.Valid, s.Invalid)
	if s.Skipped > 0 {
		untrusted.Fprintf(b, "; %d skipped%s", s.Skipped, skippedKinds(s))
	}
	Also(b, s.Unreadable, "unreadable")
	Also(b, s.Undecided, "undecided")
	Also(b, s.Ignored, "ignored")
	if s.CRDs != nil {
		Also(b, s.CRDs.Rejected, "CRD rejected", "CRDs rejected")
		Also(b, s.CRDs.Undecided, "CRD undecided", "CRDs undecided")
	}
	if s.Baseline != nil {
		untrusted.Fprintf(b, "; %d known from the baseline", s.Baseline.Known)
	}
	if s.Interrupted {
		b.WriteString("; interrupted")
	}
	b.WriteByte('\n')
	line := func(n int, noun string, text untrusted.Safe) {
		if n > 0 {
			untrusted.Fprintf(b, "%s %s\n", phrase.Count(n, noun), text)
		}
	}
	line(s.StructureOnly, "object", "of built-in kinds: only structure and policies were checked")
	line(s.Uncompiled, "object", "not checked further: rules of the CRD do not compile")
	line(s.Unevaluated[finding.UnevaluatedPolicy], "admission policy document", "not evaluated: use --policy PATH")
	line(s.Unevaluated[finding.UnevaluatedSuite], "test suite", "not run: use celadon test PATH")
	if s.Old != nil {
		line(s.Old.Matched, "object", "of --old matched: checked as updates")
		if s.Old.Matched == 0 {
			b.WriteString("no object in --old matches: all were checked as creates\n")
		}
	}
	line(s.Vanished, "old object", "without a new object: not checked")
	if s.Baseline != nil {
		line(s.Baseline.Stale, "stale line", "in the baseline: rewrite it with --baseline-out")
	}
	if lacks := lacks(s); lacks != "" {
		untrusted.Fprintf(b, "%s\n", lacks)
	}
	showUpgrades(b, s.Upgrade)
}

// Also writes a count at the end of a line of counts, unless it is 0. plural, if given, replaces the words
// if n is not 1.
func Also(b *strings.Builder, n int, words string, plural ...string) {
	if n > 0 {
		if n > 1 && len(plural) > 0 {
			words = plural[0]
		}
		fmt.Fprintf(b, "; %d %s", n, words)
	}
}

const shownKinds = 5

func skippedKinds(s *finding.Summary) string {
	kinds := slices.SortedFunc(maps.Keys(s.SkippedKinds), func(a, b string) int {
		return cmp.Or(s.SkippedKinds[b]-s.SkippedKinds[a], strings.Compare(a, b))
	})
	parts := make([]string, min(len(kinds), shownKinds))
	for i := range parts {
		parts[i] = fmt.Sprintf("%d %s", s.SkippedKinds[kinds[i]], kinds[i])
	}
	switch {
	case len(parts) == 0:
		return ""
	case len(kinds) > len(parts):
		parts = append(parts, "…")
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

const known = "known from the baseline"

func lacks(s *finding.Summary) string {
	if len(s.Missing) == 0 {
		return ""
	}
	return "missing from the report: " + strings.Join(s.Missing, ", ")
}

const (
	maxRuleRows = 20
	ruleWidth   = 60
)

func tables(b *strings.Builder, s *finding.Summary) {
	if len(s.Kinds) == 0 {
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	kindRows(t, s)
	_ = t.Flush() // a strings.Builder never fails
	if len(s.Rules) == 0 {
		return
	}
	fmt.Fprintln(t, "\nFAILED\tRUNS\tCOST\tSHARE\tKIND\tPATH\tRULE")
	for _, r := range s.Rules[:min(maxRuleRows, len(s.Rules))] {
		path := r.Path
		if path == "" {
			path = "(root)"
		}
		rule := preview.Middle(lex.Flat(r.Rule), ruleWidth)
		untrusted.Fprintf(t, "%d\t%d\t%d\t%.1f%%\t%s\t%s\t%s\n", r.Failed, r.Runs, r.Cost, 100*r.CostShare, r.Kind, path, rule)
	}
	_ = t.Flush()
	if more := len(s.Rules) - maxRuleRows; more > 0 {
		untrusted.Fprintf(b, "%s more\n", phrase.Count(more, "rule"))
	}
}

func kindRows(t io.Writer, s *finding.Summary) {
	head := "\nKIND\tAPIVERSION\tCHECKED\tINVALID"
	if s.Undecided > 0 {
		head += "\tUNDECIDED"
	}
	fmt.Fprintln(t, head+"\tCOST")
	for _, k := range s.Kinds {
		row := untrusted.Sprintf("%s\t%s\t%d\t%d", k.Kind, k.APIVersion, k.Checked, k.Invalid)
		if s.Undecided > 0 {
			row += untrusted.Sprintf("\t%d", k.Undecided)
		}
		untrusted.Fprintf(t, "%s\t%d\n", row, k.Cost)
	}
}
