package vet

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/markers/markervet"
)

// maxLocations limits the locations shown per finding.
const maxLocations = 5

// lines returns the details and locations of a finding.
func (f *goFinding) lines() (lines []string) {
	lines = append(lines, f.shown...)
	for i, p := range f.paths {
		if i == maxLocations && len(f.paths) > maxLocations+1 {
			return append(lines, fmt.Sprintf("and in %d more places", len(f.paths)-i))
		}
		lines = append(lines, "in "+p.String())
	}
	return lines
}

// goEach writes a report per CRD, as without Go packages.
type goEach struct{ printer }

func (p goEach) excerpt() int { return 0 }

func (p goEach) report(r *goRun) error {
	if j, ok := p.printer.(*jsonPrinter); ok {
		j.findings = r.reports()
	}
	for _, one := range r.crds {
		if err := p.crd(one); err != nil {
			return err
		}
	}
	return p.end(&r.sum)
}

// goText writes findings in the format of compiler errors.
type goText struct{ *textPrinter }

func (p goText) excerpt() int { return p.textPrinter.excerpt() }

func (p goText) report(r *goRun) error {
	var b strings.Builder
	for i := range r.findings {
		f := &r.findings[i]
		if p.quiet && f.level != markervet.Error {
			continue
		}
		head := untrusted.Sprintf("%s:%d:%d", f.at.File, f.at.Line, f.at.Column)
		switch {
		case f.at.Line == 0:
			head = untrusted.Line(f.at.File)
		case f.at.Column == 0:
			head = untrusted.Sprintf("%s:%d", f.at.File, f.at.Line)
		}
		color := map[string]untrusted.Color{markervet.Error: untrusted.Red, markervet.Warning: untrusted.Yellow, markervet.Note: untrusted.Green}[f.level]
		name := untrusted.Line(f.level)
		if f.level != markervet.Note {
			name += " " + untrusted.Line(f.id)
		}
		untrusted.Fprintf(&b, "%s: %s: %s\n", head, p.out.Paint(color, name), print.Sentence(f.message))
		f.at.ShowLine(&b)
		if f.rule != "" && !strings.Contains(f.at.Excerpt.Line, f.rule) {
			p.rule(&b, f.rule)
		}
		for _, line := range f.lines() {
			p.line(&b, 8, untrusted.Line(line))
		}
	}
	if p.quiet {
		_, err := p.out.Write([]byte(b.String()))
		return err
	}
	for _, one := range r.crds {
		one.oneLine(p.textPrinter, &b)
	}
	s := r.sum.Go
	untrusted.Fprintf(&b, "%d of %s found in %s", s.Mapped, phrase.Count(s.Rules, "rule"), phrase.Count(s.Files, "Go file"))
	if s.Undeclared > 0 {
		untrusted.Fprintf(&b, "; %s of kinds that are not in these packages", phrase.Count(s.Undeclared, "CRD"))
	}
	untrusted.Fprintf(&b, "\n%s\n", r.sum.String())
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

// goList lists findings at the positions of their markers.
type goList struct{ *listPrinter }

func (p goList) excerpt() int { return 0 }

func (p goList) report(r *goRun) error {
	if err := p.list.Add(finding.Result{Findings: r.listed}); err != nil {
		return err
	}
	return p.end(&r.sum)
}

// listed yields the findings for a list.
func (r *goRun) listed(yield func(finding.Finding) bool) {
	for i := range r.findings {
		f := r.findings[i].crdFinding
		f.shown = r.findings[i].lines()
		one := f.listed(r.findings[i].of)
		if one.Write = r.findings[i].write; !yield(one) {
			return
		}
	}
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

func (r *goRun) reports() []goReport {
	list := []goReport{}
	for i := range r.findings {
		f := &r.findings[i]
		one := goReport{f.id, f.level, f.message, f.rule, f.shown, f.of, f.at.File, f.at.Line, f.at.Column, f.paths}
		if one.Paths == nil {
			one.Paths = []markervet.ObjectPath{}
		}
		list = append(list, one)
	}
	return list
}
