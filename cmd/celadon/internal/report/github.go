package report

import (
	"fmt"
	"io"
	"strings"
)

// githubPrinter writes workflow commands, which GitHub shows as annotations of
// a pull request's lines. See
// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions.
type githubPrinter struct {
	w           io.Writer
	strictKinds bool
}

func (p *githubPrinter) Object(o *Object) error {
	var b strings.Builder
	for _, warning := range o.Warnings {
		Annotate(&b, "warning", Place{File: o.File, Line: o.Line}, o.title(), warning)
	}
	switch {
	case o.Verdict == Unreadable:
		Annotate(&b, "error", Place{File: o.File, Line: o.Line}, "unreadable", o.Problem)
	case o.Verdict == Skipped && p.strictKinds:
		Annotate(&b, "error", Place{File: o.File, Line: o.Line}, o.title()+" skipped", o.Problem)
	case o.Verdict == Invalid:
		p.refused(&b, o)
	}
	if o.Upgrade != nil && o.Upgrade.Finding() {
		var text strings.Builder
		o.Upgrade.show(&text, o)
		Annotate(&b, "error", Place{File: o.File, Line: o.Line}, o.title()+" and the upgrade", strings.TrimSpace(text.String()))
	}
	_, err := io.WriteString(p.w, b.String())
	return err
}

func (o *Object) title() string { return strings.TrimSpace(o.Kind + " " + o.Name) }

func (p *githubPrinter) refused(b *strings.Builder, o *Object) {
	for i := range o.Causes {
		c := &o.Causes[i]
		place := Place{File: c.File, Line: c.Line, Column: c.Column}
		if c.Line == 0 {
			place = Place{File: o.File, Line: o.Line}
		}
		Annotate(b, "error", place, o.title()+" is invalid", c.text())
	}
	if len(o.Causes) > 0 {
		return
	}
	place := Place{File: o.File, Line: o.Line}
	if len(o.Strict) > 0 {
		place = o.Strict[0]
	}
	Annotate(b, "error", place, o.title()+" is invalid", o.Status.Message)
}

// text is the cause with its rule and the values in it.
func (c *Cause) text() string {
	text := c.Field + ": " + c.Message
	if c.Rule == "" {
		return text
	}
	text += "\nrule: " + c.Rule
	for _, v := range c.Values {
		text += "\n  " + v.Expr + ": " + v.Text
	}
	return text
}

// Annotate writes one workflow command; a level is error, warning or notice.
func Annotate(b *strings.Builder, level string, at Place, title, message string) {
	fmt.Fprintf(b, "::%s file=%s", level, escapeProperty(at.File))
	if at.Line > 0 {
		fmt.Fprintf(b, ",line=%d", at.Line)
	}
	if at.Column > 0 {
		fmt.Fprintf(b, ",col=%d", at.Column)
	}
	fmt.Fprintf(b, ",title=%s::%s\n", escapeProperty(title), escapeData(message))
}

var dataEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")

func escapeData(s string) string { return dataEscapes.Replace(s) }

var propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")

func escapeProperty(s string) string { return propertyEscapes.Replace(s) }

func (p *githubPrinter) End(s *Summary) error {
	text := textPrinter{w: p.w}
	return text.End(s)
}
