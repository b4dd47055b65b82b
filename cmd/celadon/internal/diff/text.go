package diff

import (
	"io"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// A printer writes a report while CRDs are compared.
type printer interface {
	crd(*CRD) error
	object(*finding.Object) error
	end(*Report) error
}

// newPrinter returns the printer of a format. Text is folded at width, unless that is 0.
func newPrinter(out *untrusted.Writer, width int, o *Options) printer {
	switch o.Output {
	case "json":
		return &jsonPrinter{out}
	case "github", "sarif":
		return newList(out, o)
	case "markdown":
		if o.Verbose {
			return &markdownPrinter{out: out}
		}
		return &commentPrinter{out: out}
	}
	return &textPrinter{out: out, o: o, layout: print.Layout{Color: out.Colors, Width: width}}
}

// textPrinter writes for people.
type textPrinter struct {
	out     *untrusted.Writer
	o       *Options
	layout  print.Layout
	objects print.Printer
}

func (p *textPrinter) crd(crd *CRD) error {
	if crd.unchanged() {
		return nil // end reports all unchanged CRDs together
	}
	var b strings.Builder
	untrusted.Fprintf(&b, "%s\n", p.out.Paint(untrusted.Bold, untrusted.Line(crd.Name)))
	if u := crd.Update; u != nil && !u.Accepted {
		p.update(&b, u)
	}
	if crd.KubeVersions != nil {
		p.upgrade(&b, crd.KubeVersions)
	}
	for _, c := range crd.Changes {
		if c.Effect != compare.Equivalent {
			p.change(&b, crd, c)
		}
	}
	for _, c := range crd.Changes {
		if c.Effect == compare.Equivalent {
			untrusted.Fprintf(&b, "  %s: %s%s\n", c.title(), c.effect(), p.locations(crd, c))
		}
	}
	_, err := io.WriteString(p.out, p.layout.Text(b.String()))
	return err
}

// update writes the API server's verdict on the CRD itself.
func (p *textPrinter) update(b *strings.Builder, u *finding.CRD) {
	if u.Undecided {
		untrusted.Fprintf(b, "  the update of the CRD is undecided: %s\n", u.Problem)
		return
	}
	untrusted.Fprintf(b, "  %s\n", p.out.Paint(untrusted.Red, "the API server rejects the update of the CRD:"))
	for _, c := range u.Causes {
		untrusted.Fprintf(b, "    %s: %s\n", shortened(c.Field), shortened(c.Message))
		if c.Line > 0 {
			untrusted.Fprintf(b, "      --> %s:%d:%d\n", c.File, c.Line, c.Column)
		}
	}
	if len(u.Causes) == 0 && u.Status != nil {
		untrusted.Fprintf(b, "    %s\n", shortened(u.Status.Message))
	}
}

func (p *textPrinter) change(b *strings.Builder, crd *CRD, c *Change) {
	effect := c.effect()
	switch {
	case c.Allowed != "":
		effect = p.out.Paint(untrusted.Yellow, effect+", which is allowed")
	case c.Effect.Breaks():
		effect = p.out.Paint(untrusted.Red, effect)
	case c.unproved():
		effect = p.out.Paint(untrusted.Yellow, effect)
	}
	untrusted.Fprintf(b, "  %s: %s%s\n", c.title(), effect, p.locations(crd, c))
	if c.Allowed != "" {
		untrusted.Fprintf(b, "    allowed: %s\n", c.Allowed)
	}
	if c.Old != "" {
		untrusted.Fprintf(b, "    - %s\n", flat(c, c.Old))
	}
	if c.New != "" {
		untrusted.Fprintf(b, "    + %s\n", flat(c, c.New))
	}
	for _, w := range []*Witness{c.Rejected, c.Kept} {
		if w != nil {
			p.witness(b, c, w)
		}
	}
}

func (p *textPrinter) witness(b *strings.Builder, c *Change, w *Witness) {
	untrusted.Fprintf(b, "    %s:\n", c.head(w))
	for _, part := range []struct {
		name   string
		object map[string]any
	}{{"old object", w.Old}, {"new object", w.Object}} {
		if part.object == nil {
			continue
		}
		indent := "      "
		if w.Old != nil {
			untrusted.Fprintf(b, "      %s:\n", part.name)
			indent += "  "
		}
		for line := range strings.Lines(document(part.object)) {
			b.WriteString(indent + line)
		}
	}
	for _, cause := range w.causes() {
		untrusted.Fprintf(b, "      %s\n", cause)
	}
	for _, change := range w.Kept {
		untrusted.Fprintf(b, "      %s: %s\n", change.Field, kept(&change))
	}
	for _, path := range w.Hidden {
		untrusted.Fprintf(b, "      %s is hidden: its format is password\n", path)
	}
	if also := w.alsoBreaks(); also != "" {
		untrusted.Fprintf(b, "      %s\n", also)
	}
	if description := w.describe(); description != "" {
		untrusted.Fprintf(b, "    %s\n", description)
	}
}

// kept describes how a persisted value changes.
func kept(c *finding.Change) untrusted.Safe {
	switch {
	case c.After == "":
		return untrusted.Sprintf("%s is lost", c.Before)
	case c.Before == "":
		return untrusted.Sprintf("becomes %s", c.After)
	}
	return untrusted.Sprintf("%s becomes %s", c.Before, c.After)
}

// locations returns the locations of a change on both sides.
func (p *textPrinter) locations(crd *CRD, c *Change) untrusted.Safe {
	var parts []string
	if c.OldLine > 0 && crd.OldFile != "" {
		at := finding.Location{File: crd.OldFile, Line: c.OldLine}
		if p.o.Base != "" {
			at.File += " at " + p.o.Base
		}
		parts = append(parts, location(at))
	}
	if c.NewLine > 0 && crd.NewFile != "" {
		parts = append(parts, location(finding.Location{File: crd.NewFile, Line: c.NewLine}))
	}
	if len(parts) == 0 {
		return ""
	}
	return untrusted.Sprintf("\n    --> %s", strings.Join(parts, " and "))
}

func location(p finding.Location) string { return string(untrusted.Sprintf("%s:%d", p.File, p.Line)) }

func (p *textPrinter) object(o *finding.Object) error {
	if p.objects == nil {
		var err error
		if p.objects, err = print.New("text", p.out, print.Options{Color: p.layout.Color, Width: p.layout.Width}); err != nil {
			return err
		}
	}
	return p.objects.Object(o)
}

func (p *textPrinter) end(r *Report) error {
	var b strings.Builder
	p.unchanged(&b, r)
	if r.Summary.Objects != nil {
		untrusted.Fprintf(&b, "%s\n", r.Summary.Objects.text())
	}
	color := untrusted.Green
	switch {
	case !r.Compatible:
		color = untrusted.Red
	case !r.Proved:
		color = untrusted.Yellow
	}
	untrusted.Fprintf(&b, "%s: %s\n", r.summary(), p.out.Paint(color, untrusted.Line(r.conclusion())))
	_, err := io.WriteString(p.out, p.layout.Text(b.String()))
	return err
}

// unchanged writes the number of unchanged CRDs on a line, followed by their names if the output is
// verbose.
func (p *textPrinter) unchanged(b *strings.Builder, r *Report) {
	names := r.unchanged()
	if len(names) == 0 {
		return
	}
	b.WriteString(unchangedText(len(names)))
	if !p.o.Verbose {
		b.WriteString("\n")
		return
	}
	b.WriteString(":\n")
	for _, name := range names {
		untrusted.Fprintf(b, "  %s\n", untrusted.Line(name))
	}
}
