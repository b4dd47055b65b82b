package diff

import (
	"cmp"
	"io"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

type printer interface {
	crd(*CRD) error
	object(*finding.Object) error
	removed(*Removed) error
	end(*Report) error
}

// newPrinter returns the printer of a format. Text is folded at the width of terminal.
func (o *Options) newPrinter(format string, terminal, to io.Writer) (printer, error) {
	out := untrusted.NewWriter(to)
	switch format {
	case "json":
		return &jsonPrinter{out: out}, nil
	case "github", "gitlab", "sarif":
		list := print.NewList(format, out, "celadon diff", command.Version())
		return &listPrinter{list, print.Objects(list, false)}, nil
	case "markdown":
		if o.Verbose {
			return &markdownPrinter{out: out, limits: verboseComment}, nil
		}
		return &markdownPrinter{out: out, limits: shortComment}, nil
	}
	out.Colors = command.Color(terminal)
	width, _ := command.Width(terminal)
	objects, err := print.New("text", out, print.Options{Color: out.Colors, Width: width})
	return &textPrinter{out, o, print.Layout{Color: out.Colors, Width: width}, objects}, err
}

type atEnd struct{}

func (atEnd) crd(*CRD) error               { return nil }
func (atEnd) object(*finding.Object) error { return nil }
func (atEnd) removed(*Removed) error       { return nil }

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
		if err := cmp.Or(p.write(&b), p.objects.CRD(u)); err != nil {
			return err
		}
	}
	if crd.KubeVersions != nil {
		p.upgrade(&b, crd.KubeVersions)
	}
	for _, quiet := range []bool{false, true} {
		for _, c := range crd.Changes {
			if quiet == (c.Effect == compare.Equivalent) {
				p.change(&b, crd, c)
			}
		}
	}
	return p.write(&b)
}

// write writes a part of the report in the layout of the terminal, and empties b.
func (p *textPrinter) write(b *strings.Builder) error {
	_, err := io.WriteString(p.out, p.layout.Text(b.String()))
	b.Reset()
	return err
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
	if c.Effect != compare.Equivalent {
		for _, line := range c.details() {
			untrusted.Fprintf(b, "    %s\n", line)
		}
	}
}

func (c *Change) details() (lines []untrusted.Safe) {
	if c.Allowed != "" {
		lines = append(lines, untrusted.Sprintf("allowed: %s", c.Allowed))
	}
	if c.Old != "" {
		lines = append(lines, "- "+flat(c, c.Old))
	}
	if c.New != "" {
		lines = append(lines, "+ "+flat(c, c.New))
	}
	for _, w := range []*Witness{c.Rejected, c.Kept} {
		if w != nil {
			lines = append(append(lines, untrusted.Safe(c.head(w)+":")), w.details()...)
		}
	}
	return lines
}

func (w *Witness) details() (lines []untrusted.Safe) {
	object := func(indent untrusted.Safe, obj map[string]any) {
		for line := range strings.Lines(print.Document(obj)) {
			lines = append(lines, indent+untrusted.Line(strings.TrimSuffix(line, "\n")))
		}
	}
	if w.Old == nil {
		object("  ", w.Object)
	} else {
		lines = append(lines, "  old object:")
		object("    ", w.Old)
		lines = append(lines, "  new object:")
		object("    ", w.Object)
	}
	for _, remark := range w.remarks() {
		lines = append(lines, "  "+remark)
	}
	if description := w.describe(); description != "" {
		lines = append(lines, untrusted.Safe(description))
	}
	return lines
}

func (w *Witness) remarks() []untrusted.Safe {
	lines := w.causes()
	for _, change := range w.Kept {
		lines = append(lines, untrusted.Sprintf("%s: %s", change.Field, kept(&change)))
	}
	for _, path := range w.Hidden {
		lines = append(lines, untrusted.Sprintf("%s is hidden: its format is password", path))
	}
	if also := w.alsoBreaks(); also != "" {
		lines = append(lines, also)
	}
	return lines
}

func kept(c *finding.Change) untrusted.Safe {
	switch {
	case c.After == "":
		return untrusted.Sprintf("%s is lost", c.Before)
	case c.Before == "":
		return untrusted.Sprintf("becomes %s", c.After)
	}
	return untrusted.Sprintf("%s becomes %s", c.Before, c.After)
}

func (p *textPrinter) locations(crd *CRD, c *Change) untrusted.Safe {
	var parts []string
	if c.OldLine > 0 && crd.OldFile != "" {
		at := finding.Location{File: crd.OldFile, Line: c.OldLine}
		if p.o.Base != "" {
			at.File += " at " + p.o.Base
		}
		parts = append(parts, at.Place())
	}
	if c.NewLine > 0 && crd.NewFile != "" {
		parts = append(parts, finding.Location{File: crd.NewFile, Line: c.NewLine}.Place())
	}
	if len(parts) == 0 {
		return ""
	}
	return untrusted.Sprintf("\n    --> %s", strings.Join(parts, " and "))
}

func (p *textPrinter) removed(r *Removed) error {
	var b strings.Builder
	title := p.out.Paint(untrusted.Bold, untrusted.Line(r.title()))
	untrusted.Fprintf(&b, "%s: %s\n    --> %s\n", title, r.Message, r.location())
	return p.write(&b)
}

func (p *textPrinter) object(o *finding.Object) error { return p.objects.Object(o) }

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
	return p.write(&b)
}

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
