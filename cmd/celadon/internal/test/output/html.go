package output

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/ruletest/coverage"
)

const style = `
body { font: 15px/1.4 sans-serif; margin: 2em; color: #222; background: #fff }
pre { font: 13px/1.45 monospace; background: #fafafa; border: 1px solid #ddd; padding: .6em; overflow-x: auto }
table { border-collapse: collapse } td, th { padding: .15em .8em; text-align: left; border-bottom: 1px solid #eee }
.n { color: #999; user-select: none } .key { color: #06c } .full { background: #d8f5d8 } .part { background: #fff3c4 } .none { background: #fbd5d5 }
.gap { text-decoration: underline wavy #c00; text-underline-offset: 3px }
`

// HTML writes a self-contained page: the source of each CRD and policy, with the rules colored by their
// coverage. The page loads no resources and runs no scripts, and text from CRDs and policies is escaped.
func HTML(w io.Writer, r *coverage.Report, sources *Sources) error {
	hash := sha256.Sum256([]byte(style))
	b, line := &strings.Builder{}, &strings.Builder{}
	CoverageLine(line, r)
	fmt.Fprintf(b, `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'">
<title>Coverage of rules</title><style>%s</style></head><body>
<h1>Coverage of rules</h1>
<p>%s</p>
<p><span class="full">fully covered</span> <span class="part">partly covered</span> <span class="none">never ran</span> <span class="gap">not covered</span></p>
`, base64.StdEncoding.EncodeToString(hash[:]), style, safe(strings.TrimSuffix(line.String(), "\n")))
	left := pages(b, r, sources)
	if len(left) > 0 {
		b.WriteString("<h2>Rules whose source was not found</h2>\n<ul>\n")
		for _, item := range left {
			fmt.Fprintf(b, "<li>%s: <code>%s</code>: %s</li>\n", safe(itemName(item)), safe(item.Rule), safe(missing(item)))
		}
		b.WriteString("</ul>\n")
	}
	b.WriteString("</body></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// safe escapes untrusted text for use in the page.
func safe(text string) string { return html.EscapeString(string(untrusted.Text(text))) }

// missing lists the gaps in a rule's coverage.
func missing(item *coverage.Item) string {
	var texts []string
	for i, gap := range item.Gaps() {
		if i == maxListed { // the list is repeated for each part of the rule
			texts = append(texts, fmt.Sprintf("and %d more", len(item.Gaps())-maxListed))
			break
		}
		texts = append(texts, gap.Text)
	}
	if item.Unmeasured != "" {
		texts = append(texts, item.Unmeasured)
	}
	if len(texts) == 0 {
		if item.Policy != "" {
			return fmt.Sprintf("ran %d, false %d", item.Ran, item.Refused)
		}
		return fmt.Sprintf("ran %d, rejected %d", item.Ran, item.Refused)
	}
	return strings.Join(texts, "; ")
}

// itemName identifies a rule, or an expression of a policy.
func itemName(item *coverage.Item) string {
	if item.Policy != "" {
		return policyItem(item)
	}
	return item.CRD + " " + item.Version + " " + item.Path
}

// pages writes each CRD and policy with its rules. It returns the items whose rule was not found in any source.
func pages(b *strings.Builder, r *coverage.Report, sources *Sources) (left []*coverage.Item) {
	marks := map[*source][]mark{}
	for i := range r.Items {
		item := &r.Items[i]
		src, node := sources.find(item)
		if node == nil {
			left = append(left, item)
			continue
		}
		marks[src] = append(marks[src], marksOf(src, node, item)...)
	}
	for _, src := range sources.all {
		if len(marks[src]) > 0 {
			fmt.Fprintf(b, "<h2>%s</h2>\n<p>%s</p>\n", safe(src.name), safe(src.file))
			src.page(b, marks[src])
		}
	}
	return left
}

// mark assigns a color class and a tooltip to a range of the source.
type mark struct {
	from, to     int
	class, title string
}

func marksOf(src *source, node *position.Node, item *coverage.Item) []mark {
	gaps := item.Gaps()
	class := "full"
	switch {
	case item.Ran == 0:
		class = "none"
	case len(gaps) > 0 || item.Unmeasured != "":
		class = "part"
	}
	all := len([]rune(item.Rule))
	from, to := src.span(node, 0, all)
	marks := []mark{{from, to, class, missing(item)}}
	for _, gap := range gaps {
		if gap.End-gap.Start < all {
			from, to := src.span(node, gap.Start, gap.End)
			marks = append(marks, mark{from, to, class + " gap", gap.Text})
		}
	}
	return marks
}

// page writes the source line by line. If marks are nested, the innermost applies: each range between
// two mark boundaries gets the narrowest mark that contains it.
func (s *source) page(b *strings.Builder, marks []mark) {
	cuts := []int{0, len(s.text)}
	for _, m := range marks {
		cuts = append(cuts, m.from, m.to)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	slices.SortStableFunc(marks, func(x, y mark) int { return (y.to - y.from) - (x.to - x.from) })
	narrowest := map[int]mark{} // by the start of the range
	for _, m := range marks {
		i, _ := slices.BinarySearch(cuts, m.from)
		for ; i < len(cuts) && cuts[i] < m.to; i++ {
			narrowest[cuts[i]] = m
		}
	}
	b.WriteString("<pre>")
	at, number := 0, s.line
	for line := range strings.Lines(string(s.text)) {
		fmt.Fprintf(b, `<span class="n">%5d </span>`, number)
		number++
		s.row(b, at, line, cuts, narrowest)
		at += len(line)
	}
	b.WriteString("</pre>\n")
}

// row writes a line, split into ranges at cuts.
func (s *source) row(b *strings.Builder, at int, line string, cuts []int, marks map[int]mark) {
	end := at + len(line)
	i, exact := slices.BinarySearch(cuts, at)
	if !exact {
		i--
	}
	for at < end {
		begin := cuts[i]
		stop := end
		if i+1 < len(cuts) {
			stop = min(end, cuts[i+1])
		}
		text := string(s.text[at:stop])
		if m, ok := marks[begin]; ok && strings.TrimSpace(text) != "" {
			inner := strings.TrimRight(text, "\r\n")
			fmt.Fprintf(b, `<span class="%s" title="%s">%s</span>%s`, m.class, safe(m.title), safe(inner), safe(text[len(inner):]))
		} else {
			b.WriteString(keyed(text))
		}
		at = stop
		i++
	}
}

// keyed colors the key of a mapping.
func keyed(text string) string {
	key, rest, ok := strings.Cut(text, ":")
	if !ok || strings.ContainsAny(key, `"'{}[]#`) {
		return safe(text)
	}
	return `<span class="key">` + safe(key) + "</span>:" + safe(rest)
}
