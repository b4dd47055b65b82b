package diff

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

type jsonPrinter struct{ out *untrusted.Writer }

func (p *jsonPrinter) crd(*CRD) error               { return nil }
func (p *jsonPrinter) object(*finding.Object) error { return nil }

func (p *jsonPrinter) end(r *Report) error {
	enc := finding.Encoder(p.out)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// level returns the annotation level of c, or "" if it needs no annotation.
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
	if w := c.Refused; w != nil {
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

// gitHubPrinter writes GitHub workflow commands, which are shown next to the lines.
type gitHubPrinter struct{ out *untrusted.Writer }

func (p *gitHubPrinter) crd(crd *CRD) error {
	if crd.Update != nil {
		refusal, err := finding.New("github", p.out, finding.Options{})
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
		if err := finding.Annotate(p.out, level, c.at(crd), string(untrusted.Line(crd.Name)+" "+c.title()), c.summary()); err != nil {
			return err
		}
	}
	return nil
}

func (p *gitHubPrinter) object(o *finding.Object) error {
	objects, err := finding.New("github", p.out, finding.Options{})
	if err != nil {
		return err
	}
	return objects.Object(o)
}

func (p *gitHubPrinter) end(r *Report) error {
	_, err := fmt.Fprintf(p.out, "%s: %s\n", r.summary(), r.conclusion())
	return err
}

type sarifPrinter struct{ log *finding.SARIF }

func newSARIF(out *untrusted.Writer) *sarifPrinter {
	return &sarifPrinter{finding.NewSARIF(out, command.Version())}
}

func (p *sarifPrinter) crd(crd *CRD) error {
	if u := crd.Update; u != nil && u.Refused() {
		for _, c := range u.Causes {
			at := finding.Location{File: crd.NewFile, Line: max(c.Line, crd.NewLine), Column: c.Column, Field: c.Field}
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
		text := string(c.title() + ": " + c.summary())
		if err := p.log.Add(c.Subject, "A change of a CRD: "+c.Subject, level, c.at(crd), text, crd.Name, c.Version); err != nil {
			return err
		}
	}
	return nil
}

func (p *sarifPrinter) object(o *finding.Object) error {
	at := finding.Location{File: o.File, Line: o.Line}
	return p.log.Add("upgrade", "An object that an upgrade of its CRD affects", "error", at, o.Upgraded(), o.File, o.APIVersion, o.Kind, o.Namespace, o.Name)
}

func (p *sarifPrinter) end(r *Report) error { return p.log.Close(r.Summary.Interrupted) }
