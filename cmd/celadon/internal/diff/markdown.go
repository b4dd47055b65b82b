package diff

import (
	"io"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// markdownPrinter writes a comment for a pull request. Untrusted text is put into code spans and blocks
// whose fences are longer than any run of backticks in it, so markdown in it has no effect.
type markdownPrinter struct {
	out  *untrusted.Writer
	b    strings.Builder
	file string // of the current CRD
}

// maxComment is the maximum length of a comment. GitHub's limit is slightly larger.
const maxComment = 60_000

func (p *markdownPrinter) crd(crd *CRD) error {
	untrusted.Fprintf(&p.b, "### %s\n\n", code(crd.Name))
	if u := crd.Update; u != nil && u.Rejected() {
		p.b.WriteString("The API server **rejects the update of the CRD**:\n\n")
		text := ""
		for _, c := range u.Causes {
			text += shortened(c.Field) + ": " + shortened(c.Message) + "\n"
		}
		if text == "" && u.Status != nil {
			text = shortened(u.Status.Message) + "\n"
		}
		p.fence("", text)
	}
	if u := crd.KubeVersions; u != nil {
		p.upgrade(u)
	}
	p.file = crd.NewFile
	var rows, quiet []*Change
	for _, c := range crd.Changes {
		if c.Effect == compare.Equivalent || c.Effect == compare.Loosening && !c.unproved() {
			quiet = append(quiet, c)
		} else {
			rows = append(rows, c)
		}
	}
	if len(crd.Changes) == 0 {
		p.b.WriteString("No change affects objects.\n\n")
	}
	for _, c := range rows {
		p.change(c)
	}
	p.table(quiet)
	return nil
}

// upgrade writes the verdicts of two Kubernetes versions on the CRD.
func (p *markdownPrinter) upgrade(u *KubeVersions) {
	if verdict := u.verdict(); verdict != "" {
		untrusted.Fprintf(&p.b, "%s\n\n", verdict)
		text := ""
		for _, c := range u.causes() {
			text += string(causeText(c)) + "\n"
		}
		p.fence("", text)
	}
	for _, e := range u.Estimates {
		untrusted.Fprintf(&p.b, "- %s\n", code(string(e.text())))
	}
	if len(u.Estimates) > 0 {
		p.b.WriteString("\n")
	}
}

func (p *markdownPrinter) change(c *Change) {
	mark := "**" + c.verb() + "**"
	at := untrusted.Safe("")
	if c.NewLine > 0 && p.file != "" {
		at = " at " + code(location(finding.Location{File: p.file, Line: c.NewLine}))
	}
	untrusted.Fprintf(&p.b, "- %s %s%s\n\n", untrusted.Safe(mark), code(string(c.title())), at)
	if c.Allowed != "" {
		untrusted.Fprintf(&p.b, "  Allowed: %s\n\n", code(c.Allowed))
	}
	text := ""
	for _, side := range []struct{ sign, text string }{{"- ", c.Old}, {"+ ", c.New}} {
		if side.text != "" {
			text += side.sign + string(flat(c, side.text)) + "\n"
		}
	}
	p.fence("diff", text)
	if c.unproved() {
		untrusted.Fprintf(&p.b, "  %s\n\n", code(string(c.noWitness())))
	}
	if w := c.Rejected; w != nil {
		p.witness(c, w)
	}
}

// verb returns the effect in a word or two.
func (c *Change) verb() string {
	switch {
	case c.Effect == compare.Breaking:
		return "breaks"
	case c.Effect == compare.Both:
		return "breaks, and accepts more"
	case c.Effect == compare.Unknown:
		return "unknown"
	case c.Effect == compare.Loosening:
		return "accepts more"
	}
	return "has no effect"
}

func (p *markdownPrinter) witness(c *Change, w *Witness) {
	untrusted.Fprintf(&p.b, "  <details><summary>%s: %s</summary>\n\n", c.head(w), w.describe())
	text := ""
	if w.Old != nil {
		text = "# before\n" + document(w.Old) + "---\n"
	}
	p.fence("yaml", text+document(w.Object))
	text = ""
	for _, cause := range w.causes() {
		text += string(cause) + "\n"
	}
	for _, change := range w.Kept {
		text += string(untrusted.Sprintf("%s: %s\n", change.Field, kept(&change)))
	}
	if also := w.alsoBreaks(); also != "" {
		text += string(also) + "\n"
	}
	p.fence("", text)
	p.b.WriteString("  </details>\n\n")
}

// table lists the changes that need no review.
func (p *markdownPrinter) table(list []*Change) {
	if len(list) == 0 {
		return
	}
	untrusted.Fprintf(&p.b, "<details><summary>%d more changes that break nothing</summary>\n\n", len(list))
	for _, c := range list {
		untrusted.Fprintf(&p.b, "- %s: %s\n", code(string(c.title())), code(string(c.effect())))
	}
	p.b.WriteString("\n</details>\n\n")
}

func (p *markdownPrinter) object(o *finding.Object) error {
	untrusted.Fprintf(&p.b, "- %s\n", code(print.Upgraded(o)))
	return nil
}

func (p *markdownPrinter) end(r *Report) error {
	head := "## CRD changes: " + r.conclusion() + "\n\n"
	foot := "\n" + r.summary() + "\n"
	if r.Summary.Objects != nil {
		foot = "\n" + r.Summary.Objects.text() + "\n" + foot
	}
	body := p.b.String()
	if limit := maxComment - len(head) - len(foot); len(body) > limit {
		body = cut(body, limit)
	}
	_, err := io.WriteString(p.out, head+body+foot)
	return err
}

// cut shortens a comment to limit bytes. It only keeps whole changes.
func cut(body string, limit int) string {
	end := strings.LastIndex(body[:limit-100], "\n- **")
	if head := strings.LastIndex(body[:limit-100], "\n### "); head > end {
		end = head
	}
	return body[:max(end, 0)] + "\n\nThe report is too long for a comment: run `celadon diff` to see the rest.\n"
}

// fence writes text as a code block in a list item.
func (p *markdownPrinter) fence(language, text string) {
	if text == "" {
		return
	}
	marks := strings.Repeat("`", max(3, longest(text)+1))
	p.b.WriteString("  " + marks + language + "\n")
	for line := range strings.Lines(text) {
		untrusted.Fprintf(&p.b, "  %s\n", strings.TrimSuffix(line, "\n"))
	}
	p.b.WriteString("  " + marks + "\n\n")
}

// code returns text as a code span on one line.
func code(text string) untrusted.Safe {
	line := string(untrusted.Line(text))
	marks := strings.Repeat("`", longest(line)+1)
	if longest(line) > 0 || line == "" {
		line = " " + line + " "
	}
	return untrusted.Safe(marks + line + marks)
}

// longest returns the length of the longest run of backticks in text.
func longest(text string) (longest int) {
	n := 0
	for _, r := range text {
		if n++; r != '`' {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}
