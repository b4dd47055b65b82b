package print

import (
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Show writes a finding below the CRD or policy that it is about. head introduces its message.
func Show(b *strings.Builder, head untrusted.Safe, f *finding.Finding) {
	message, more, _ := strings.Cut(string(Sentence(f.Message)), "\n")
	untrusted.Fprintf(b, "  %s: %s\n", head, untrusted.Safe(message))
	for line := range strings.Lines(more) {
		b.WriteString("    " + line)
	}
	if more != "" {
		b.WriteByte('\n')
	}
	f.At.Show(b)
	ShowDetails(b, f)
}

// ShowDetails writes the rule of a finding, unless its excerpt has it, and the details.
func ShowDetails(b *strings.Builder, f *finding.Finding) {
	if !strings.Contains(f.At.Excerpt.Line, f.Expression) {
		ShowRule(b, f.Expression)
	}
	for _, line := range f.Details {
		untrusted.Fprintf(b, "        %s\n", line)
	}
}
