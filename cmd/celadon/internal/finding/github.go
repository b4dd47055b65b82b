package finding

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// githubPrinter writes workflow commands, which GitHub shows as annotations in a pull request. See
// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions.
type githubPrinter struct {
	w           *untrusted.Writer
	strictKinds bool
}

func (p *githubPrinter) Object(o *Object) error {
	if o.Known {
		return nil
	}
	whole := Location{File: o.File, Line: o.Line}
	for _, warning := range o.Warnings {
		if err := p.annotate(o, "warning", whole, o.title(), Sentence(warning)); err != nil {
			return err
		}
	}
	var err error
	switch {
	case o.Verdict == Unreadable:
		err = p.annotate(o, "error", whole, "unreadable", untrusted.Line(o.Problem))
	case o.Verdict == Undecided:
		err = p.annotate(o, "error", whole, o.title()+" is undecided", o.undecidedText())
	case o.Verdict == Skipped && p.strictKinds:
		err = p.annotate(o, "error", whole, o.title()+" skipped", untrusted.Line(o.Problem))
	case o.Verdict == Invalid:
		err = p.refused(o)
	}
	if err == nil && o.Upgrade != nil && o.Upgrade.Finding() {
		err = p.annotate(o, "error", whole, o.title()+" and the upgrade", untrusted.Safe(o.Upgraded()))
	}
	return err
}

func (p *githubPrinter) annotate(o *Object, level string, at Location, title string, message untrusted.Safe) error {
	return Annotate(p.w, level, at, o.inSource(title), message)
}

func (o *Object) title() string { return strings.TrimSpace(o.Kind + " " + o.Name) }

func (p *githubPrinter) refused(o *Object) error {
	whole := Location{File: o.File, Line: o.Line}
	for i := range o.Causes {
		c := &o.Causes[i]
		location := Location{File: c.File, Line: c.Line, Column: c.Column}
		if c.Line == 0 {
			location = whole
		}
		if err := p.annotate(o, "error", location, o.title()+" is invalid", c.annotation()); err != nil {
			return err
		}
	}
	if len(o.Causes) > 0 {
		return nil
	}
	if len(o.Strict) > 0 {
		whole = o.Strict[0]
	}
	return p.annotate(o, "error", whole, o.title()+" is invalid", Sentence(o.Status.Message))
}

// annotation returns the cause with its rule and values, escaped.
func (c *Cause) annotation() untrusted.Safe {
	var b strings.Builder
	untrusted.Fprintf(&b, "%s: %s\n", c.Field, Sentence(c.Message))
	rule(&b, "rule: ", c.Rule)
	for _, v := range c.Values {
		untrusted.Fprintf(&b, "  %s: %s\n", v.Expr, v.Text)
	}
	if c.NotShown != "" {
		untrusted.Fprintf(&b, "  values not shown: %s\n", c.NotShown)
	}
	return untrusted.Safe(strings.TrimSuffix(b.String(), "\n"))
}

// undecidedText returns the problem of an undecided object, with the rule and the fix.
func (o *Object) undecidedText() untrusted.Safe {
	var b strings.Builder
	untrusted.Fprintf(&b, "%s\n", o.Problem)
	o.undecided(&b)
	return untrusted.Safe(strings.TrimSpace(b.String()))
}

// Annotate writes a workflow command. level is error, warning, or notice. message may have
// several lines.
func Annotate(w *untrusted.Writer, level string, at Location, title string, message untrusted.Safe) error {
	var b strings.Builder
	fmt.Fprintf(&b, "file=%s", escapeProperty(at.File))
	if at.Line > 0 {
		fmt.Fprintf(&b, ",line=%d", at.Line)
	}
	if at.Column > 0 {
		fmt.Fprintf(&b, ",col=%d", at.Column)
	}
	text := untrusted.Text(string(message)) // a runner may print its lines
	fmt.Fprintf(&b, ",title=%s::%s", escapeProperty(string(untrusted.Line(title))), escapeData(string(text)))
	return w.Command("::"+level+" ", b.String())
}

var dataEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")

func escapeData(s string) string { return dataEscapes.Replace(s) }

var propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")

func escapeProperty(s string) string { return propertyEscapes.Replace(s) }

func (p *githubPrinter) End(s *Summary) error {
	text := textPrinter{w: p.w}
	return text.End(s)
}
