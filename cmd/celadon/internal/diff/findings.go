package diff

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/internal/foreign"
)

type jsonPrinter struct{ out *foreign.Writer }

func (p *jsonPrinter) crd(*CRD) error              { return nil }
func (p *jsonPrinter) object(*report.Object) error { return nil }

func (p *jsonPrinter) end(r *Report) error {
	enc := report.Encoder(p.out)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// level is that of an annotation; "" is none.
func (c *Change) level() string {
	switch {
	case c.Allowed != "":
		return "note"
	case c.breaks():
		return "error"
	case c.unproved():
		return "warning"
	}
	return ""
}

// told is a change in a few lines, for an annotation.
func (c *Change) told() foreign.Own {
	var b strings.Builder
	foreign.Fprintf(&b, "%s\n", c.effect())
	if c.Allowed != "" {
		foreign.Fprintf(&b, "allowed: %s\n", c.Allowed)
	}
	if c.Old != "" {
		foreign.Fprintf(&b, "- %s\n", flat(c, c.Old))
	}
	if c.New != "" {
		foreign.Fprintf(&b, "+ %s\n", flat(c, c.New))
	}
	if w := c.Refused; w != nil {
		foreign.Fprintf(&b, "%s:\n", c.head(w))
		if w.Old != nil {
			foreign.Fprintf(&b, "old object: %s\n", report.Preview(w.Old, nil))
		}
		foreign.Fprintf(&b, "%s\n%s\n", report.Preview(w.Object, nil), w.says())
	}
	return foreign.Own(strings.TrimSpace(b.String()))
}

// at is where a change is shown: in the new CRD, or in the old where there is no
// new one.
func (c *Change) at(crd *CRD) report.Place {
	if crd.NewFile == "" {
		return report.Place{File: crd.OldFile, Line: c.OldLine, Field: c.Path}
	}
	return report.Place{File: crd.NewFile, Line: max(c.NewLine, crd.NewLine), Field: c.Path + " " + c.What}
}

// gitHubPrinter writes workflow commands, which GitHub shows beside the lines.
type gitHubPrinter struct{ out *foreign.Writer }

func (p *gitHubPrinter) crd(crd *CRD) error {
	if crd.Update != nil {
		refusal, err := report.New("github", p.out, report.Options{})
		if err == nil {
			err = refusal.CRD(crd.Update)
		}
		if err != nil {
			return err
		}
	}
	for _, c := range crd.Changes {
		level := c.level()
		switch level {
		case "":
			continue
		case "note":
			level = "notice"
		}
		if err := report.Annotate(p.out, level, c.at(crd), string(foreign.Line(crd.Name)+" "+c.title()), c.told()); err != nil {
			return err
		}
	}
	return nil
}

func (p *gitHubPrinter) object(o *report.Object) error {
	objects, err := report.New("github", p.out, report.Options{})
	if err != nil {
		return err
	}
	return objects.Object(o)
}

func (p *gitHubPrinter) end(r *Report) error {
	_, err := fmt.Fprintf(p.out, "%s: %s\n", r.summary(), r.conclusion())
	return err
}

type sarifPrinter struct{ log *report.SARIF }

func newSARIF(out *foreign.Writer) *sarifPrinter {
	return &sarifPrinter{report.NewSARIF(out, cli.Version())}
}

func (p *sarifPrinter) crd(crd *CRD) error {
	if u := crd.Update; u != nil && u.Refused() {
		for _, c := range u.Causes {
			at := report.Place{File: crd.NewFile, Line: max(c.Line, crd.NewLine), Column: c.Column, Field: c.Field}
			if err := p.log.Add(c.Reason, "A check of the API server: "+c.Reason, "error", at, c.Field+": "+c.Message, crd.NewFile, crd.Name); err != nil {
				return err
			}
		}
	}
	for _, c := range crd.Changes {
		level := c.level()
		if level == "" {
			continue
		}
		text := string(c.title() + ": " + c.told())
		if err := p.log.Add(c.What, "A change of a CRD: "+c.What, level, c.at(crd), text, crd.Name, c.Version); err != nil {
			return err
		}
	}
	return nil
}

func (p *sarifPrinter) object(o *report.Object) error {
	at := report.Place{File: o.File, Line: o.Line}
	return p.log.Add("upgrade", "An object that an upgrade of its CRD affects", "error", at, o.Upgraded(), o.File, o.APIVersion, o.Kind, o.Namespace, o.Name)
}

func (p *sarifPrinter) end(r *Report) error { return p.log.Close(r.Summary.Interrupted) }
