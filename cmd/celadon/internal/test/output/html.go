package output

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/ruletest/coverage"
)

//go:embed coverage.css
var style string

//go:embed coverage.html
var pageTemplate string

// HTML writes a self-contained page: the source of each CRD and policy, with the rules colored by their
// coverage. The page loads no resources and runs no scripts, and text from CRDs and policies is escaped.
func HTML(w io.Writer, r *coverage.Report, sources *Sources) error {
	t, err := template.New("page").Funcs(template.FuncMap{"name": itemName, "missing": missing}).Parse(pageTemplate)
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(style))
	var summary, b strings.Builder
	CoverageLine(&summary, r)
	pages, left := pagesOf(r, sources)
	if err := t.Execute(&b, map[string]any{
		"Hash": base64.StdEncoding.EncodeToString(hash[:]), "Style": template.CSS(style),
		"Summary": strings.TrimSuffix(summary.String(), "\n"), "Pages": pages, "Left": left,
	}); err != nil {
		return err
	}
	_, err = io.WriteString(w, string(untrusted.Text(b.String())))
	return err
}

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
			return fmt.Sprintf("ran %d, false %d", item.Ran, item.Rejected)
		}
		return fmt.Sprintf("ran %d, rejected %d", item.Ran, item.Rejected)
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

// page is a source, as lines that consist of spans.
type page struct {
	Name, File string
	Lines      []line
}

type line struct {
	Number int
	Spans  []span
}

type span struct{ Class, Title, Text string }

// pagesOf returns a page for each CRD and policy with rules, and the items whose rule was not found in any source.
func pagesOf(r *coverage.Report, sources *Sources) (pages []page, left []*coverage.Item) {
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
			pages = append(pages, page{src.name, src.file, src.lines(marks[src])})
		}
	}
	return pages, left
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

// lines splits the source. If marks are nested, the innermost applies: each range between two mark
// boundaries gets the narrowest mark that contains it.
func (s *source) lines(marks []mark) (lines []line) {
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
	at := 0
	for text := range strings.Lines(string(s.text)) {
		lines = append(lines, line{s.line + len(lines), s.spans(at, at+len(text), cuts, narrowest)})
		at += len(text)
	}
	return lines
}

// spans splits the source from at to end at cuts.
func (s *source) spans(at, end int, cuts []int, marks map[int]mark) (spans []span) {
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
			spans = append(spans, span{m.class, m.title, inner}, span{Text: text[len(inner):]})
		} else {
			spans = append(spans, keyed(text)...)
		}
		at = stop
		i++
	}
	return spans
}

// keyed separates the key of a mapping.
func keyed(text string) []span {
	key, rest, ok := strings.Cut(text, ":")
	if !ok || strings.ContainsAny(key, `"'{}[]#`) {
		return []span{{Text: text}}
	}
	return []span{{Class: "key", Text: key}, {Text: ":" + rest}}
}
