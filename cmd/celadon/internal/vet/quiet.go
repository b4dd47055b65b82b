package vet

import (
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// quietVerdict writes the verdict on a CRD that is not accepted, without positions and advice.
func (p *textPrinter) quietVerdict(b *strings.Builder, one *vetted) {
	switch r := one.report; {
	case one.accepted():
	case r.Accepted || one.undecided():
		p.verdict(b, one)
	default:
		b.WriteString(string(p.out.Paint(untrusted.Red, untrusted.Safe(strings.TrimRight(string(print.KubectlError(one.kubectl(p.excerpt()))), "\n")))) + "\n")
	}
}

// errorList is a list of the errors among findings.
type errorList struct{ print.List }

// Add adds the errors of a result.
func (l errorList) Add(r finding.Result) error {
	all := r.Findings
	r.Findings = func(yield func(finding.Finding) bool) {
		for f := range all {
			if f.Level == "error" && !yield(f) {
				return
			}
		}
	}
	return l.List.Add(r)
}
