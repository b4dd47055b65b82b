package diff

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// markdownPrinter writes a comment for a pull request. Each listed change is on a line of its own, and examples
// follow if there is room for them. Untrusted text is put into code spans and blocks whose fences are
// longer than any run of backticks in it, so markdown in it has no effect.
type markdownPrinter struct {
	atEnd
	out *untrusted.Writer
	limits
}

type limits struct {
	verbose      bool
	lines, bytes int
	listed       int // items with a line each; together at most three fifths of bytes
	objects      int // objects that come before the changes of CRDs
	text         int // characters of a text from a CRD
	example      int // bytes of an example
}

var (
	// action.yml cuts at slightly more.
	shortComment = limits{lines: 40, bytes: 20_000, listed: 27, objects: 8, text: 120, example: 2000}
	// GitHub's limit is slightly larger.
	verboseComment = limits{verbose: true, lines: 2000, bytes: 60_000, listed: 400, objects: 50, text: shown, example: 16_000}
)

type commentItem struct {
	kind string
	line string
	// example returns the lines of its example, or nil if they are too many. It is nil itself if the item has no
	// example.
	example func() []string
}

func (p *markdownPrinter) end(r *Report) error {
	lines, foot, items := []string{"## CRD changes: " + r.conclusion(), "", r.summary(), ""}, p.foot(r), p.items(r)
	n, used := 0, 0
	for n < min(len(items), p.listed) && used+len(items[n].line) < p.bytes*3/5 {
		used += len(items[n].line) + 1
		n++
	}
	if n < len(items) {
		foot = append([]string{fmt.Sprintf("- and %d more: %s", len(items)-n, countKinds(items[n:]))}, foot...)
	}
	more := []string{"", "Run `celadon diff` to see an example object for each change."}
	room := p.lines - len(lines) - n - len(foot) - len(more)
	bytes := p.bytes - used - size(lines) - size(foot) - size(more)
	omitted := n < len(items)
	for _, item := range items[:n] {
		if lines = append(lines, item.line); item.example == nil {
			continue
		}
		example := item.example()
		if example == nil || len(example) > room || size(example) > bytes {
			omitted = true
			continue
		}
		lines = append(lines, example...)
		room -= len(example)
		bytes -= size(example)
	}
	if lines = append(lines, foot...); omitted {
		lines = append(lines, more...)
	}
	lines = slices.CompactFunc(lines, func(a, b string) bool { return a == "" && b == "" })
	_, err := io.WriteString(p.out, strings.TrimSpace(strings.Join(lines, "\n"))+"\n")
	return err
}

func size(lines []string) (n int) {
	for _, line := range lines {
		n += len(line) + 1
	}
	return n
}

func (p *markdownPrinter) foot(r *Report) (lines []string) {
	if o := r.Summary.Objects; o != nil {
		lines = append(lines, "", o.text())
	}
	var parts []string
	if quiet := p.quiet(r); len(quiet) > 0 && !p.verbose {
		parts = append(parts, "These changes break nothing: "+countKinds(quiet)+".")
	}
	estimates := 0
	for _, crd := range r.CRDs {
		if crd.KubeVersions != nil && !p.verbose {
			estimates += len(crd.KubeVersions.Estimates)
		}
	}
	if estimates > 0 {
		parts = append(parts, phrase.Count(estimates, "rule")+" with another estimated cost.")
	}
	if n := len(r.unchanged()); n > 0 {
		parts = append(parts, unchangedText(n)+".")
	}
	if len(parts) > 0 {
		lines = append(lines, "", strings.Join(parts, " "))
	}
	return lines
}

func (p *markdownPrinter) items(r *Report) []commentItem {
	var rejected, objects, breaks, allowed, unknown []commentItem
	for _, crd := range r.CRDs {
		if rejection := p.rejection(crd); rejection.line != "" {
			rejected = append(rejected, rejection)
		}
	}
	for _, removed := range r.Removed {
		objects = append(objects, commentItem{kind: "object", line: string("- " + p.code(removed.title()) + " " + p.code(removed.Message))})
	}
	for _, o := range r.Objects {
		objects = append(objects, commentItem{kind: "object", line: string("- " + p.code(print.Upgraded(o)))})
	}
	first := min(len(objects), p.objects)
	for _, crd := range r.CRDs {
		for _, c := range crd.Changes {
			switch item := p.item(crd, c); {
			case c.Allowed != "":
				allowed = append(allowed, item)
			case c.Effect.Breaks():
				breaks = append(breaks, item)
			case c.unproved():
				unknown = append(unknown, item)
			}
		}
	}
	items := slices.Concat(rejected, objects[:first], breaks, objects[first:], allowed, unknown)
	if p.verbose {
		items = append(items, p.quiet(r)...)
	}
	return items
}

// quiet returns the changes that are known to break nothing (not only by a search) and, in a verbose
// comment, the estimates that change.
func (p *markdownPrinter) quiet(r *Report) (items []commentItem) {
	for _, crd := range r.CRDs {
		for _, c := range crd.Changes {
			if c.Allowed == "" && !c.unproved() && (c.Effect == compare.Equivalent || c.Effect == compare.Loosening) {
				items = append(items, p.item(crd, c))
			}
		}
		if crd.KubeVersions == nil || !p.verbose {
			continue
		}
		for _, e := range crd.KubeVersions.Estimates {
			items = append(items, commentItem{kind: "estimate", line: string("- " + p.code(crd.Name) + " " + p.code(string(e.text())))})
		}
	}
	return items
}

// rejection returns an item without a line if the CRD and its update are accepted.
func (p *markdownPrinter) rejection(crd *CRD) (item commentItem) {
	var text untrusted.Safe
	var causes []string
	if u := crd.KubeVersions; u != nil {
		verdict, why := u.verdict()
		text = verdict
		for _, cause := range why {
			causes = append(causes, string(cause))
		}
	} else if u := crd.Update; u != nil && u.Rejected() {
		text = "the API server **rejects the update of the CRD**:"
		for _, c := range u.Causes {
			causes = append(causes, c.Field+": "+c.Message)
		}
		if len(causes) == 0 && u.Status != nil {
			causes = []string{u.Status.Message}
		}
	}
	if text == "" {
		return item
	}
	item = commentItem{kind: "rejected CRD", line: string("- " + p.code(crd.Name) + ": " + text)}
	if len(causes) > 0 {
		item.line += " " + string(p.code(causes[0]))
	}
	if p.verbose && len(causes) > 1 {
		item.example = func() (lines []string) {
			for _, cause := range causes[1:] {
				lines = append(lines, "  - "+string(p.code(cause)))
			}
			return lines
		}
	}
	return item
}

func (p *markdownPrinter) item(crd *CRD, c *Change) commentItem {
	item := commentItem{kind: c.Subject, line: p.line(crd, c)}
	if w := cmp.Or(c.Rejected, c.Kept); w != nil && c.Allowed == "" {
		item.example = func() []string { return p.witness(c, w) }
	}
	return item
}

func (p *markdownPrinter) line(crd *CRD, c *Change) string {
	var b strings.Builder
	effect := "**" + effects[c.Effect] + "**"
	if p.verbose && !c.Effect.Breaks() {
		effect = p.code(string(c.effect()))
	}
	untrusted.Fprintf(&b, "- %s %s %s", p.code(crd.Name), p.code(string(c.title())), effect)
	switch old, now := p.brief(c, c.Old), p.brief(c, c.New); {
	case old != "" && now != "":
		untrusted.Fprintf(&b, ": %s → %s", old, now)
	case old != "":
		untrusted.Fprintf(&b, ": %s is removed", old)
	case now != "":
		untrusted.Fprintf(&b, ": %s is new", now)
	}
	at := finding.Location{File: crd.NewFile, Line: c.NewLine}
	if crd.NewFile == "" {
		at = finding.Location{File: crd.OldFile, Line: c.OldLine}
	}
	if at.Line > 0 {
		untrusted.Fprintf(&b, " (%s)", p.code(at.Place()))
	}
	if c.Allowed != "" {
		untrusted.Fprintf(&b, ", allowed: %s", p.code(c.Allowed))
	}
	return b.String()
}

func (p *markdownPrinter) brief(c *Change, text string) untrusted.Safe {
	if text = c.flat(text); text == "" {
		return ""
	}
	return p.code(text)
}

func (p *markdownPrinter) code(text string) untrusted.Safe { return print.Code(text, p.text) }

// witness returns nil if the example is too long.
func (p *markdownPrinter) witness(c *Change, w *Witness) []string {
	text := print.Document(w.Object)
	if w.Old != nil {
		text = "# before\n" + print.Document(w.Old) + "---\n" + text
	}
	for _, remark := range w.remarks() {
		text += string("# " + remark + "\n")
	}
	if len(text) > p.example {
		return nil
	}
	marks := strings.Repeat("`", max(3, print.LongestFence(text)+1))
	lines := []string{"  <details><summary>" + c.head(w) + ": " + w.describe() + "</summary>", "", "  " + marks + "yaml"}
	for line := range strings.Lines(text) {
		lines = append(lines, string(untrusted.Sprintf("  %s", strings.TrimSuffix(line, "\n"))))
	}
	return append(lines, "  "+marks, "  </details>", "")
}

func countKinds(items []commentItem) string {
	counts := map[string]int{}
	for _, item := range items {
		counts[item.kind]++
	}
	kinds := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, kind := range kinds {
		switch kind {
		case "pruning", "nullable", "required", "scope", "conversion", "storage", "names", "columns", "selectable fields":
			kinds[i] = fmt.Sprintf("%d %s", counts[kind], kind) // which have no plural
		default:
			kinds[i] = phrase.Count(counts[kind], kind)
		}
	}
	return strings.Join(kinds, ", ")
}
