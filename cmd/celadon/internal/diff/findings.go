package diff

import (
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

type jsonPrinter struct{ out *untrusted.Writer }

func (p *jsonPrinter) crd(*CRD) error               { return nil }
func (p *jsonPrinter) object(*finding.Object) error { return nil }
func (p *jsonPrinter) removed(*Removed) error       { return nil }
func (p *jsonPrinter) end(r *Report) error          { return print.JSON(p.out, r) }

// level returns the annotation level of c, or "" if it needs no annotation.
func (c *Change) level() string {
	switch {
	case c.Allowed != "":
		return "note"
	case c.Effect.Breaks():
		return "error"
	case c.unproved():
		return "warning"
	}
	return ""
}

// at returns the location to show for c: in the new CRD, or in the old CRD if it was removed.
func (c *Change) at(crd *CRD) finding.Location {
	if crd.NewFile == "" {
		return finding.Location{File: crd.OldFile, Line: c.OldLine, Field: c.Path}
	}
	return finding.Location{File: crd.NewFile, Line: max(c.NewLine, crd.NewLine), Field: c.Path + " " + c.Subject}
}

// listPrinter writes the changes of CRDs in a format that lists findings. objects writes objects and updates
// of CRDs as celadon check does.
type listPrinter struct {
	list    print.List
	objects print.Printer
}

func newList(out *untrusted.Writer, format string) *listPrinter {
	list := print.NewList(format, out, "celadon diff", command.Version())
	return &listPrinter{list, print.Objects(list, false)}
}

func (p *listPrinter) crd(crd *CRD) error {
	if crd.Update != nil {
		if err := p.objects.CRD(crd.Update); err != nil {
			return err
		}
	}
	return p.list.Add(finding.Result{Findings: slices.Values(crd.findings())})
}

func (p *listPrinter) object(o *finding.Object) error { return p.objects.Object(o) }

func (p *listPrinter) removed(r *Removed) error {
	return p.list.Add(finding.Result{Findings: slices.Values([]finding.Finding{r.finding()})})
}

func (p *listPrinter) end(r *Report) error {
	return p.list.End(print.End{Text: r.summary() + ": " + r.conclusion() + "\n", Interrupted: r.Summary.Interrupted})
}

// findings returns the changes that need attention.
func (crd *CRD) findings() (list []finding.Finding) {
	name := untrusted.Line(crd.Name)
	if u := crd.KubeVersions; u.rejects() {
		f := finding.Finding{
			ID: "kube-version", Description: "Another Kubernetes version rejects the CRD", Level: "error",
			Title: string(name), At: finding.Location{File: crd.NewFile, Line: crd.NewLine}, Subject: []string{crd.NewFile, crd.Name},
		}
		f.SetLines(string(name + ": " + u.text()))
		list = append(list, f)
	}
	for _, c := range crd.Changes {
		level := c.level()
		if level == "" {
			continue
		}
		title := name + " " + c.title()
		f := finding.Finding{
			ID: c.Subject, Description: "A change of a CRD: " + c.Subject, Level: level, Title: string(title),
			Message: string(title + ": " + c.effect()), At: c.at(crd), Subject: []string{crd.Name, c.Version},
		}
		for _, line := range c.details() {
			f.Details = append(f.Details, string(line))
		}
		list = append(list, f)
	}
	return list
}
