package output

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/ruletest/coverage"
)

// Lcov writes coverage in the lcov format. A rule is a function on the line where it starts, with a
// branch for acceptance and a branch for rejection. Each condition of the rule is two branches. Rules
// that are not found in a file are left out.
func Lcov(w io.Writer, r *coverage.Report, sources *Sources) error {
	files := map[string]*tracefile{}
	for i := range r.Items {
		item := &r.Items[i]
		src, node := sources.find(item)
		if node == nil {
			continue
		}
		if files[src.file] == nil {
			files[src.file] = &tracefile{lines: map[int]int{}}
		}
		files[src.file].add(item, src.lineOf(node))
	}
	b := &strings.Builder{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(b, "TN:\nSF:%s\n", untrusted.Line(name))
		files[name].write(b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tracefile is the record of a file.
type tracefile struct {
	functions, hits, branches []string
	hit, taken                int
	lines                     map[int]int
}

func (f *tracefile) add(item *coverage.Item, line int) {
	text := policyItem(item)
	if item.Policy == "" {
		text = fmt.Sprintf("%s %s %s[%d]", item.CRD, item.Version, item.Path, item.Index)
	}
	name := untrusted.Line(text)
	f.functions = append(f.functions, fmt.Sprintf("FN:%d,%s", line, name))
	f.hits = append(f.hits, fmt.Sprintf("FNDA:%d,%s", item.Ran, name))
	f.hit += min(item.Ran, 1)
	f.lines[line] += item.Ran
	branch := func(n, taken int) {
		text := "-"
		if item.Ran > 0 {
			text = fmt.Sprint(taken)
			f.taken += min(taken, 1)
		}
		f.branches = append(f.branches, fmt.Sprintf("BRDA:%d,%d,%d,%s", line, len(f.functions), n, text))
	}
	if item.HasOutcomes() {
		branch(0, item.Passed)
		branch(1, item.Rejected)
	}
	for i, c := range item.Conditions {
		branch(2+2*i, c.True)
		branch(3+2*i, c.False)
	}
}

func (f *tracefile) write(b *strings.Builder) {
	for _, line := range slices.Concat(f.functions, f.hits) {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(b, "FNF:%d\nFNH:%d\n", len(f.functions), f.hit)
	for _, line := range f.branches {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(b, "BRF:%d\nBRH:%d\n", len(f.branches), f.taken)
	hit := 0
	for _, n := range slices.Sorted(maps.Keys(f.lines)) {
		fmt.Fprintf(b, "DA:%d,%d\n", n, f.lines[n])
		hit += min(f.lines[n], 1)
	}
	fmt.Fprintf(b, "LF:%d\nLH:%d\nend_of_record\n", len(f.lines), hit)
}
