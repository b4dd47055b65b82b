package print

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

const (
	maxRuleRows = 20
	ruleWidth   = 60
)

// tables writes the tables, if they were filled.
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

// kindRows writes the table of kinds. The column for undecided objects is omitted if it would
// be empty.
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
