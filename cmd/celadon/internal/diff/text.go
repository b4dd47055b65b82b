package diff

import (
	"io"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/engine/compare"
	"github.com/celadon-cel/celadon/internal/foreign"
)

// printer writes a report as CRDs are compared.
type printer interface {
	crd(*CRD) error
	object(*report.Object) error
	end(*Report) error
}

func newPrinter(out *foreign.Writer, o *Options) printer {
	switch o.Output {
	case "json":
		return &jsonPrinter{out}
	case "github":
		return &gitHubPrinter{out}
	case "sarif":
		return newSARIF(out)
	case "markdown":
		return &markdownPrinter{out: out}
	}
	return &textPrinter{out: out, o: o}
}

// textPrinter is for people.
type textPrinter struct {
	out     *foreign.Writer
	o       *Options
	objects report.Printer
}

func (p *textPrinter) paint(c foreign.Colour, text foreign.Own) foreign.Own {
	if !p.out.Colours {
		return text
	}
	return foreign.Paint(c, text)
}

func (p *textPrinter) crd(crd *CRD) error {
	var b strings.Builder
	foreign.Fprintf(&b, "%s\n", p.paint(foreign.Bold, foreign.Line(crd.Name)))
	if u := crd.Update; u != nil && !u.Accepted {
		p.update(&b, u)
	}
	quiet := 0
	for _, c := range crd.Changes {
		if c.Effect == compare.Equivalent {
			quiet++
			continue
		}
		p.change(&b, crd, c)
	}
	if quiet == 0 && len(crd.Changes) == 0 {
		b.WriteString("  no change that objects could meet\n")
	}
	for _, c := range crd.Changes {
		if c.Effect == compare.Equivalent {
			foreign.Fprintf(&b, "  %s: %s%s\n", c.title(), c.effect(), p.places(crd, c))
		}
	}
	_, err := io.WriteString(p.out, b.String())
	return err
}

// update is what the server says to the CRD itself.
func (p *textPrinter) update(b *strings.Builder, u *report.CRD) {
	if u.Undecided {
		foreign.Fprintf(b, "  the update of the CRD is undecided: %s\n", u.Problem)
		return
	}
	foreign.Fprintf(b, "  %s\n", p.paint(foreign.Red, "the API server refuses the update of the CRD:"))
	for _, c := range u.Causes {
		foreign.Fprintf(b, "    %s: %s\n", c.Field, c.Message)
		if c.Line > 0 {
			foreign.Fprintf(b, "      --> %s:%d:%d\n", c.File, c.Line, c.Column)
		}
	}
	if len(u.Causes) == 0 && u.Status != nil {
		foreign.Fprintf(b, "    %s\n", u.Status.Message)
	}
}

func (p *textPrinter) change(b *strings.Builder, crd *CRD, c *Change) {
	effect := c.effect()
	switch {
	case c.Allowed != "":
		effect = p.paint(foreign.Yellow, effect+", which is allowed")
	case c.breaks():
		effect = p.paint(foreign.Red, effect)
	case c.unproved():
		effect = p.paint(foreign.Yellow, effect)
	}
	foreign.Fprintf(b, "  %s: %s%s\n", c.title(), effect, p.places(crd, c))
	if c.Allowed != "" {
		foreign.Fprintf(b, "    allowed: %s\n", c.Allowed)
	}
	if c.Old != "" {
		foreign.Fprintf(b, "    - %s\n", flat(c, c.Old))
	}
	if c.New != "" {
		foreign.Fprintf(b, "    + %s\n", flat(c, c.New))
	}
	for _, w := range []*Witness{c.Refused, c.Kept} {
		if w != nil {
			p.witness(b, c, w)
		}
	}
}

func (p *textPrinter) witness(b *strings.Builder, c *Change, w *Witness) {
	foreign.Fprintf(b, "    %s:\n", c.head(w))
	for _, part := range []struct {
		name   string
		object map[string]any
	}{{"old object", w.Old}, {"new object", w.Object}} {
		if part.object == nil {
			continue
		}
		indent := "      "
		if w.Old != nil {
			foreign.Fprintf(b, "      %s:\n", part.name)
			indent += "  "
		}
		for line := range strings.Lines(document(part.object)) {
			b.WriteString(indent + line)
		}
	}
	for _, cause := range w.Causes {
		if cause.Field == "<nil>" {
			continue // that rules were not looked at
		}
		foreign.Fprintf(b, "      %s: %s\n", cause.Field, cause.Message)
	}
	for _, change := range w.Kept {
		foreign.Fprintf(b, "      %s: %s\n", change.Field, kept(&change))
	}
	for _, path := range w.Hidden {
		foreign.Fprintf(b, "      %s is hidden: its format is password\n", path)
	}
	if says := w.says(); says != "" {
		foreign.Fprintf(b, "    %s\n", says)
	}
}

// kept says what becomes of a value.
func kept(c *report.Change) foreign.Own {
	switch {
	case c.After == "":
		return foreign.Sprintf("%s is lost", c.Before)
	case c.Before == "":
		return foreign.Sprintf("becomes %s", c.After)
	}
	return foreign.Sprintf("%s becomes %s", c.Before, c.After)
}

// document is an object in YAML.
func document(obj map[string]any) string {
	data, err := foreign.YAML(obj)
	if err != nil {
		return "(cannot be shown)\n"
	}
	return string(data)
}

// places are where the change stands on both sides.
func (p *textPrinter) places(crd *CRD, c *Change) foreign.Own {
	var parts []string
	if c.OldLine > 0 && crd.OldFile != "" {
		at := report.Place{File: crd.OldFile, Line: c.OldLine}
		if p.o.Base != "" {
			at.File += " at " + p.o.Base
		}
		parts = append(parts, place(at))
	}
	if c.NewLine > 0 && crd.NewFile != "" {
		parts = append(parts, place(report.Place{File: crd.NewFile, Line: c.NewLine}))
	}
	if len(parts) == 0 {
		return ""
	}
	return foreign.Sprintf("\n    --> %s", strings.Join(parts, " and "))
}

func place(p report.Place) string { return string(foreign.Sprintf("%s:%d", p.File, p.Line)) }

func (p *textPrinter) object(o *report.Object) error {
	if p.objects == nil {
		var err error
		if p.objects, err = report.New("text", p.out, report.Options{Colour: p.out.Colours}); err != nil {
			return err
		}
	}
	return p.objects.Object(o)
}

func (p *textPrinter) end(r *Report) error {
	var b strings.Builder
	if r.Summary.Objects != nil {
		foreign.Fprintf(&b, "%s\n", r.Summary.Objects.text())
	}
	colour := foreign.Green
	switch {
	case !r.Compatible:
		colour = foreign.Red
	case !r.Proved:
		colour = foreign.Yellow
	}
	foreign.Fprintf(&b, "%s: %s\n", r.summary(), p.paint(colour, foreign.Line(r.conclusion())))
	_, err := io.WriteString(p.out, b.String())
	return err
}
