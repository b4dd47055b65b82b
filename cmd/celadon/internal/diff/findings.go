package diff

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

type jsonPrinter struct{ out *untrusted.Writer }

func (p *jsonPrinter) crd(*CRD) error               { return nil }
func (p *jsonPrinter) object(*finding.Object) error { return nil }
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

// summary returns a description of c in a few lines, for an annotation.
func (c *Change) summary() untrusted.Safe {
	var b strings.Builder
	untrusted.Fprintf(&b, "%s\n", c.effect())
	if c.Allowed != "" {
		untrusted.Fprintf(&b, "allowed: %s\n", c.Allowed)
	}
	if c.Old != "" {
		untrusted.Fprintf(&b, "- %s\n", flat(c, c.Old))
	}
	if c.New != "" {
		untrusted.Fprintf(&b, "+ %s\n", flat(c, c.New))
	}
	if w := c.Rejected; w != nil {
		untrusted.Fprintf(&b, "%s:\n", c.head(w))
		if w.Old != nil {
			untrusted.Fprintf(&b, "old object: %s\n", finding.Preview(w.Old, nil))
		}
		untrusted.Fprintf(&b, "%s\n%s\n", finding.Preview(w.Object, nil), w.describe())
	}
	return untrusted.Safe(strings.TrimSpace(b.String()))
}

// at returns the location to show for c: in the new CRD, or in the old CRD if it was removed.
func (c *Change) at(crd *CRD) finding.Location {
	if crd.NewFile == "" {
		return finding.Location{File: crd.OldFile, Line: c.OldLine, Field: c.Path}
	}
	return finding.Location{File: crd.NewFile, Line: max(c.NewLine, crd.NewLine), Field: c.Path + " " + c.Subject}
}

// listPrinter writes the changes of CRDs in a format that lists findings.
type listPrinter struct {
	list print.List
	// check writes objects and updates of CRDs as celadon check does. It is nil if only the errors of an
	// update and the effects of the upgrade are listed.
	check print.Printer
}

func newList(out *untrusted.Writer, o *Options) *listPrinter {
	p := &listPrinter{list: print.NewList(o.Output, out, "celadon diff", command.Version())}
	if o.Output == "github" {
		p.check = print.Objects(p.list, false)
	}
	return p
}

func (p *listPrinter) crd(crd *CRD) error {
	if p.check == nil {
		return p.add(slices.Concat(crd.rejections(), crd.findings()))
	}
	if crd.Update != nil {
		if err := p.check.CRD(crd.Update); err != nil {
			return err
		}
	}
	return p.add(crd.findings())
}

func (p *listPrinter) object(o *finding.Object) error {
	if p.check != nil {
		return p.check.Object(o)
	}
	return p.add([]finding.Finding{{
		ID: "upgrade", Description: "An object that an upgrade of its CRD affects", Level: "error", At: finding.Location{File: o.File, Line: o.Line},
		Text: print.Upgraded(o), Subject: []string{o.File, o.APIVersion, o.Kind, o.Namespace, o.Name},
	}})
}

func (p *listPrinter) end(r *Report) error {
	return p.list.End(print.End{Text: r.summary() + ": " + r.conclusion() + "\n", Interrupted: r.Summary.Interrupted})
}

func (p *listPrinter) add(list []finding.Finding) error {
	return p.list.Add(finding.Result{Findings: slices.Values(list)})
}

// rejections returns the API server's errors about the update of the CRD.
func (crd *CRD) rejections() (list []finding.Finding) {
	if crd.Update == nil || !crd.Update.Rejected() {
		return nil
	}
	for _, c := range crd.Update.Causes {
		list = append(list, finding.Finding{
			ID: c.Reason, Description: "A check of the API server: " + c.Reason, Level: "error", Text: c.Field + ": " + c.Message,
			At:      finding.Location{File: crd.NewFile, Line: max(c.Line, crd.NewLine), Column: c.Column, Field: c.Field},
			Subject: []string{crd.NewFile, crd.Name},
		})
	}
	return list
}

// findings returns the changes that need attention.
func (crd *CRD) findings() (list []finding.Finding) {
	if u := crd.KubeVersions; u.rejects() {
		list = append(list, finding.Finding{
			ID: "kube-version", Description: "Another Kubernetes version rejects the CRD", Level: "error", Text: string(u.text()),
			At:    finding.Location{File: crd.NewFile, Line: crd.NewLine},
			Title: string(untrusted.Line(crd.Name)), Note: u.text(), Subject: []string{crd.NewFile, crd.Name},
		})
	}
	for _, c := range crd.Changes {
		level := c.level()
		if level == "" {
			continue
		}
		note := c.summary()
		list = append(list, finding.Finding{
			ID: c.Subject, Description: "A change of a CRD: " + c.Subject, Level: level, At: c.at(crd), Text: string(c.title() + ": " + note),
			Title: string(untrusted.Line(crd.Name) + " " + c.title()), Note: note, Subject: []string{crd.Name, c.Version},
		})
	}
	return list
}
