package vet

import (
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/markers/markervet"
)

// golang writes findings in the format of compiler errors.
func (p *textPrinter) golang(r *goRun) error {
	var b strings.Builder
	for i := range r.findings {
		f := &r.findings[i].Finding
		if p.quiet && f.Level != markervet.Error {
			continue
		}
		untrusted.Fprintf(&b, "%s: %s: %s\n", f.At.Place(), p.head(f), print.Sentence(f.Message))
		f.At.ShowLine(&b)
		print.ShowDetails(&b, f)
	}
	if !p.quiet {
		for _, one := range r.crds {
			one.oneLine(p, &b)
		}
		s := r.sum.Go
		rules, files := phrase.Count(s.Rules, "rule"), phrase.Count(s.Files, "Go file")
		untrusted.Fprintf(&b, "%d of %s found in %s", s.Mapped, rules, files)
		if s.Undeclared > 0 {
			untrusted.Fprintf(&b, "; %s of kinds that are not in these packages", phrase.Count(s.Undeclared, "CRD"))
		}
		b.WriteByte('\n')
	}
	return p.write(&b)
}

// oneLine writes the verdict on a CRD in one line.
func (one *vetted) oneLine(p *textPrinter, b *strings.Builder) {
	r := one.report
	switch {
	case r == nil:
		return
	case r.Accepted:
		untrusted.Fprintf(b, "%s: %s", r.Name, p.out.Paint(untrusted.Green, "accepted"))
		if r.MinKubeVersion != "" {
			untrusted.Fprintf(b, ", from Kubernetes %s", r.MinKubeVersion)
		}
	case one.undecided():
		untrusted.Fprintf(b, "%s: %s", r.Name, p.out.Paint(untrusted.Red, "undecided"))
	default:
		untrusted.Fprintf(b, "%s: %s", r.Name, p.out.Paint(untrusted.Red, "rejected"))
	}
	for _, v := range versions(r) {
		untrusted.Fprintf(b, "; %s: %s, %s of the cost limit", v.Name, phrase.Count(len(v.Rules), "rule"), share(v.EstimatedCost, v.Limit))
	}
	untrusted.Fprintf(b, " (%s)\n", one.doc.Location())
}

// golang lists findings at the positions of their markers, or writes a case for each CRD.
func (p *listPrinter) golang(r *goRun) error {
	if !p.cases {
		return p.add("", r.all(), nil)
	}
	for _, one := range r.crds {
		if err := p.crd(one); err != nil {
			return err
		}
	}
	return nil
}

// golang adds the findings, and a report for each CRD.
func (p *jsonPrinter) golang(r *goRun) error {
	p.findings = []goReport{}
	for i := range r.findings {
		f := &r.findings[i]
		p.findings = append(p.findings, goReport{
			f.ID, f.Level, f.Message, f.Expression, f.shown, f.of, f.At.File, f.At.Line, f.At.Column,
			append([]markervet.ObjectPath{}, f.paths...),
		})
	}
	for _, one := range r.crds {
		p.crds = append(p.crds, newCRDReport(one))
	}
	return nil
}

// goReport is the JSON form of a finding.
type goReport struct {
	ID      string                 `json:"id"`
	Level   string                 `json:"level"`
	Message string                 `json:"message"`
	Rule    string                 `json:"rule,omitempty"`
	Shown   []string               `json:"shown,omitempty"`
	Of      string                 `json:"of,omitempty"`
	File    string                 `json:"file"`
	Line    int                    `json:"line,omitempty"`
	Column  int                    `json:"column,omitempty"`
	Paths   []markervet.ObjectPath `json:"places"`
}
