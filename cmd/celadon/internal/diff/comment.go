package diff

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// commentPrinter writes a short comment for a pull request. Each break is on a line of its own, and
// examples follow only if there is room for them. Untrusted text has no effect, as in markdownPrinter.
type commentPrinter struct{ out *untrusted.Writer }

// The limits of a comment.
const (
	maxCommentLines   = 40
	maxCommentBytes   = 20_000 // action.yml cuts at slightly more
	maxBreakLines     = 24     // one per break
	maxBreakBytes     = 12_000 // of these lines
	maxObjectLines    = 8      // of the breaks: objects before the changes of CRDs
	maxUnknownLines   = 3      // one per change with an unknown effect
	maxUnknownBytes   = 3000   // of these lines
	maxCommentText    = 120    // characters of a text from a CRD
	maxCommentExample = 2000   // bytes of an example
)

func (p *commentPrinter) crd(*CRD) error               { return nil }
func (p *commentPrinter) object(*finding.Object) error { return nil }

// A commentItem is a list item of a comment.
type commentItem struct {
	// kind and kinds name the item in the counts of omitted items.
	kind, kinds string
	// line returns the item. example returns the lines of its example, or nil if they are too many. It is nil
	// itself if the item has no example.
	line    func() string
	example func() []string
}

func (p *commentPrinter) end(r *Report) error {
	breaks, unknown := commentItems(r)
	breaks, restOfBreaks := limitItems(breaks, maxBreakLines, maxBreakBytes, "more")
	unknown, restOfUnknown := limitItems(unknown, maxUnknownLines, maxUnknownBytes, "more with an unknown effect")
	head := []string{"## CRD changes: " + r.conclusion(), "", r.summary(), ""}
	foot := commentFoot(r)
	more := []string{"", "Run `celadon diff` to see an example object for each change."}
	items := slices.Concat(breaks, restOfBreaks, unknown, restOfUnknown)
	room := maxCommentLines - len(head) - len(items) - len(foot) - len(more)
	bytes := maxCommentBytes - maxBreakBytes - maxUnknownBytes - size(head) - size(foot) - size(more)
	lines, omitted := head, len(restOfBreaks)+len(restOfUnknown) > 0
	for _, item := range items {
		if lines = append(lines, item.line()); item.example == nil {
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

// size returns the number of bytes of lines.
func size(lines []string) (n int) {
	for _, line := range lines {
		n += len(line) + 1
	}
	return n
}

// commentFoot returns the lines after the list: the counts of everything that is not in it.
func commentFoot(r *Report) (lines []string) {
	if o := r.Summary.Objects; o != nil {
		lines = append(lines, "", o.text())
	}
	if text := quietText(r); text != "" {
		lines = append(lines, "", text)
	}
	return lines
}

// commentItems returns the breaks, most important first, and the changes with an unknown effect.
func commentItems(r *Report) (breaks, unknown []commentItem) {
	var allowed, objects []commentItem
	for _, crd := range r.CRDs {
		breaks = append(breaks, rejections(crd)...)
	}
	for _, o := range r.Objects {
		line := func() string { return "- " + string(shortCode(print.Upgraded(o))) }
		objects = append(objects, commentItem{line: line, kind: "object", kinds: "objects"})
	}
	first := min(len(objects), maxObjectLines)
	breaks = append(breaks, objects[:first]...)
	for _, crd := range r.CRDs {
		for _, c := range crd.Changes {
			switch item := c.item(crd); {
			case c.Allowed != "":
				allowed = append(allowed, item)
			case c.Effect.Breaks():
				breaks = append(breaks, item)
			case c.unproved():
				unknown = append(unknown, item)
			}
		}
	}
	return slices.Concat(breaks, objects[first:], allowed), unknown
}

// rejections returns an item if the API server rejects the CRD or its update. With two Kubernetes versions, it
// also returns an item if only the older version rejects the CRD.
func rejections(crd *CRD) []commentItem {
	if crd.rejection() == "" {
		return nil
	}
	line := func() string { return string(crd.rejection()) }
	return []commentItem{{line: line, kind: "rejected CRD", kinds: "rejected CRDs"}}
}

// rejection describes the rejection of the CRD or its update in a list item, or returns "".
func (crd *CRD) rejection() untrusted.Safe {
	if u := crd.KubeVersions; u != nil && u.verdict() != "" {
		line := untrusted.Sprintf("- %s: %s", shortCode(crd.Name), u.verdict())
		if causes := u.causes(); len(causes) > 0 {
			line += " " + shortCode(string(causeText(causes[0])))
		}
		return line
	}
	u := crd.Update
	if u == nil || !u.Rejected() {
		return ""
	}
	text := ""
	switch {
	case len(u.Causes) > 0:
		text = u.Causes[0].Field + ": " + u.Causes[0].Message
	case u.Status != nil:
		text = u.Status.Message
	}
	return untrusted.Sprintf("- %s: the API server **rejects the update of the CRD**: %s", shortCode(crd.Name), shortCode(text))
}

// item returns a change as a list item, with the example that shows its effect.
func (c *Change) item(crd *CRD) commentItem {
	item := commentItem{line: func() string { return c.commentLine(crd) }, kind: c.Subject, kinds: c.subjects()}
	if w := cmp.Or(c.Rejected, c.Kept); w != nil && c.Allowed == "" {
		item.example = func() []string { return c.example(w) }
	}
	return item
}

// commentLine describes a change in a list item.
func (c *Change) commentLine(crd *CRD) string {
	var b strings.Builder
	untrusted.Fprintf(&b, "- %s %s **%s**", shortCode(crd.Name), shortCode(string(c.title())), untrusted.Safe(c.verb()))
	switch old, now := c.brief(c.Old), c.brief(c.New); {
	case old != "" && now != "":
		untrusted.Fprintf(&b, ": %s → %s", old, now)
	case old != "":
		untrusted.Fprintf(&b, ": %s is removed", old)
	case now != "":
		untrusted.Fprintf(&b, ": %s is new", now)
	}
	switch {
	case c.NewLine > 0 && crd.NewFile != "":
		untrusted.Fprintf(&b, " (%s)", shortCode(location(finding.Location{File: crd.NewFile, Line: c.NewLine})))
	case c.OldLine > 0 && crd.NewFile == "":
		untrusted.Fprintf(&b, " (%s)", shortCode(location(finding.Location{File: crd.OldFile, Line: c.OldLine})))
	}
	if c.Allowed != "" {
		untrusted.Fprintf(&b, ", allowed: %s", shortCode(c.Allowed))
	}
	return b.String()
}

// subjects returns the plural of the change's subject.
func (c *Change) subjects() string {
	switch c.Subject {
	case "pruning", "nullable", "required", "scope", "conversion", "storage", "names", "columns", "selectable fields":
		return c.Subject
	}
	return c.Subject + "s"
}

// brief returns a text from a CRD as a short code span, or "" if the text is empty.
func (c *Change) brief(text string) untrusted.Safe {
	if c.Subject == "rule" {
		text = lex.Flat(text)
	}
	if text == "" {
		return ""
	}
	return shortCode(text)
}

// shortCode returns the beginning and end of text as a code span on one line. It is shortened after it
// is escaped, because an escape sequence is longer than its character.
func shortCode(text string) untrusted.Safe {
	return code(preview.Middle(string(untrusted.Line(text)), maxCommentText))
}

// example returns the lines of a folded example object.
func (c *Change) example(w *Witness) []string {
	text := document(w.Object)
	if w.Old != nil {
		text = "# before\n" + document(w.Old) + "---\n" + text
	}
	for _, cause := range w.causes() {
		text += string(untrusted.Sprintf("# %s\n", cause))
	}
	for _, change := range w.Kept {
		text += string(untrusted.Sprintf("# %s: %s\n", change.Field, kept(&change)))
	}
	if also := w.alsoBreaks(); also != "" {
		text += string(untrusted.Sprintf("# %s\n", also))
	}
	if len(text) > maxCommentExample {
		return nil
	}
	marks := strings.Repeat("`", max(3, longest(text)+1))
	lines := []string{"  <details><summary>" + c.head(w) + ": " + w.describe() + "</summary>", "", "  " + marks + "yaml"}
	for line := range strings.Lines(text) {
		lines = append(lines, string(untrusted.Sprintf("  %s", strings.TrimSuffix(line, "\n"))))
	}
	return append(lines, "  "+marks, "  </details>", "")
}

// limitItems returns the first items, at most limit lines of together bytes, and, if others remain, an item
// with their counts by kind.
func limitItems(items []commentItem, limit, bytes int, words string) (first, rest []commentItem) {
	n := 0
	for ; n < min(len(items), limit); n++ {
		line := items[n].line()
		if bytes -= len(line) + 1; bytes < 0 {
			break
		}
		items[n].line = func() string { return line }
	}
	if n == len(items) {
		return items, nil
	}
	return items[:n], []commentItem{{line: func() string {
		return fmt.Sprintf("- and %d %s: %s", len(items)-n, words, countKinds(items[n:]))
	}}}
}

// countKinds returns the number of items of each kind, largest first.
func countKinds(items []commentItem) string {
	type count struct {
		n    int
		item commentItem
	}
	var counts []*count
	for _, item := range items {
		i := slices.IndexFunc(counts, func(c *count) bool { return c.item.kind == item.kind })
		if i < 0 {
			i, counts = len(counts), append(counts, &count{item: item})
		}
		counts[i].n++
	}
	slices.SortStableFunc(counts, func(a, b *count) int { return cmp.Compare(b.n, a.n) })
	var parts []string
	for _, c := range counts {
		name := c.item.kinds
		if c.n == 1 {
			name = c.item.kind
		}
		parts = append(parts, fmt.Sprintf("%d %s", c.n, name))
	}
	return strings.Join(parts, ", ")
}

// quietText returns the counts of changes that break nothing and of unchanged CRDs.
func quietText(r *Report) string {
	var quiet []commentItem
	estimates := 0
	for _, crd := range r.CRDs {
		for _, c := range crd.Changes {
			if c.Allowed == "" && !c.unproved() && (c.Effect == compare.Equivalent || c.Effect == compare.Loosening) {
				quiet = append(quiet, commentItem{kind: c.Subject, kinds: c.subjects()})
			}
		}
		if crd.KubeVersions != nil {
			estimates += len(crd.KubeVersions.Estimates)
		}
	}
	var parts []string
	if len(quiet) > 0 {
		parts = append(parts, "These changes break nothing: "+countKinds(quiet)+".")
	}
	if estimates > 0 {
		parts = append(parts, phrase.Count(estimates, "rule")+" with another estimated cost.")
	}
	if n := len(r.unchanged()); n > 0 {
		parts = append(parts, unchangedText(n)+".")
	}
	return strings.Join(parts, " ")
}
