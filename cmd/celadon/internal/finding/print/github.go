package print

import (
	"fmt"
	"io"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// githubPrinter writes workflow commands, which GitHub shows as annotations in a pull request. See
// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions.
type githubPrinter struct{ w *untrusted.Writer }

func (p githubPrinter) Add(r finding.Result) error {
	for f := range r.Findings {
		if f.Known {
			continue
		}
		if err := p.annotate(&f); err != nil {
			return err
		}
	}
	return nil
}

func (p githubPrinter) annotate(f *finding.Finding) error {
	level := f.Level
	if level == "note" {
		level = "notice"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "file=%s", escapeProperty(f.At.File))
	if f.At.Line > 0 {
		fmt.Fprintf(&b, ",line=%d", f.At.Line)
	}
	if f.At.Column > 0 {
		fmt.Fprintf(&b, ",col=%d", f.At.Column)
	}
	text := untrusted.Text(string(f.Note)) // a runner may print its lines
	fmt.Fprintf(&b, ",title=%s::%s", escapeProperty(string(untrusted.Line(f.Title))), escapeData(string(text)))
	return p.w.Command("::"+level+" ", b.String())
}

var dataEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")

func escapeData(s string) string { return dataEscapes.Replace(s) }

var propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")

func escapeProperty(s string) string { return propertyEscapes.Replace(s) }

func (p githubPrinter) End(e End) error {
	_, err := io.WriteString(p.w, e.Text)
	return err
}
