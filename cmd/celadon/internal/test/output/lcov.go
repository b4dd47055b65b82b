package output

import (
	"fmt"
	"io"
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
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(b, "TN:\nSF:%s\n", untrusted.Line(name))
		files[name].write(b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tracefile is the record of a file.
type tracefile struct {
	functions, hits, branches []string
	found, hit, forks, taken  int
	lines                     map[int]int
}

func (f *tracefile) add(item *coverage.Item, line int) {
	text := fmt.Sprintf("%s[%d]", itemName(item), item.Index)
	if item.Policy != "" {
		text = itemName(item)
	}
	name := untrusted.Line(text)
	f.functions = append(f.functions, fmt.Sprintf("FN:%d,%s", line, name))
	f.hits = append(f.hits, fmt.Sprintf("FNDA:%d,%s", item.Ran, name))
	if f.found++; item.Ran > 0 {
		f.hit++
	}
	f.lines[line] += item.Ran
	block := f.found
	if item.HasOutcomes() {
		f.branch(item, line, block, 0, item.Passed)
		f.branch(item, line, block, 1, item.Rejected)
	}
	for i, c := range item.Conditions {
		f.branch(item, line, block, 2+2*i, c.True)
		f.branch(item, line, block, 3+2*i, c.False)
	}
}

func (f *tracefile) branch(item *coverage.Item, line, block, n, taken int) {
	text := "-"
	if f.forks++; item.Ran > 0 {
		text = fmt.Sprint(taken)
		if taken > 0 {
			f.taken++
		}
	}
	f.branches = append(f.branches, fmt.Sprintf("BRDA:%d,%d,%d,%s", line, block, n, text))
}

func (f *tracefile) write(b *strings.Builder) {
	for _, list := range [][]string{f.functions, f.hits, {fmt.Sprintf("FNF:%d", f.found), fmt.Sprintf("FNH:%d", f.hit)}, f.branches, {fmt.Sprintf("BRF:%d", f.forks), fmt.Sprintf("BRH:%d", f.taken)}} {
		for _, line := range list {
			b.WriteString(line + "\n")
		}
	}
	numbers := make([]int, 0, len(f.lines))
	for n := range f.lines {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	hit := 0
	for _, n := range numbers {
		fmt.Fprintf(b, "DA:%d,%d\n", n, f.lines[n])
		if f.lines[n] > 0 {
			hit++
		}
	}
	fmt.Fprintf(b, "LF:%d\nLH:%d\nend_of_record\n", len(numbers), hit)
}
