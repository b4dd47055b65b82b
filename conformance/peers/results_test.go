package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var sections = []string{"start", "check", "builtin", "find", "shell", "rules", "cores", "compile", "vet"}

func TestPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/speed.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range sections {
		if _, err := withSection(string(data), section, ""); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(string(data), "<!-- results: "); n != len(sections) {
		t.Errorf("the page has %d sections of results, want %d", n, len(sections))
	}
}

func TestWithSection(t *testing.T) {
	t.Parallel()
	const page = "# Page\n\n<!-- results: a -->\n```text\nold\n```\n" +
		"\nBetween.\n\n<!-- results: b -->\n```text\nkept\n```\n"
	got, err := withSection(page, "a", "new\nlines\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(page, "old\n", "new\nlines\n", 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, bad := range map[string]string{
		"no section":        strings.Replace(page, "results: a", "results: c", 1),
		"section twice":     page + page,
		"no end of section": "<!-- results: a -->\n```text\n",
	} {
		if _, err := withSection(bad, "a", ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	var all results
	for _, times := range [][]string{
		{"10", "1000", "100", "200"}, {"20", "1800", "100", "100"}, {"10", "1000", "50", "200"},
	} {
		all.add([]byte(strings.NewReplacer("A1", times[0], "A2", times[1], "B1", times[2], "B2", times[3]).Replace(`goos: linux
cpu: Some CPU
BenchmarkRules/rules,_create/case:1/celadon-2   100   A1 ns/op   0 B/op   0 allocs/op
BenchmarkRules/rules,_create/case:1/upstream-2   100   A2 ns/op   9 B/op   3 allocs/op
BenchmarkRules/rules,_create/case:2/celadon-2   100   B1 ns/op   0 B/op   0 allocs/op
BenchmarkRules/rules,_create/case:2/upstream-2   100   B2 ns/op   9 B/op   3 allocs/op
BenchmarkOnceCheck/files,_peak_memory/-/celadon   1   65000000 ns/op   58.04 MiB
BenchmarkOnceCheck/files,_peak_memory/-/decoding_with_sigs.k8s.io/json   1   65000000 ns/op   5.8 MiB
BenchmarkStart/size/-/celadon   1   43.4 MB   12 ns/op
PASS
`)))
	}
	if all.cpu != "Some CPU" {
		t.Errorf("CPU %q", all.cpu)
	}
	var got strings.Builder
	for _, table := range all.tables() {
		got.WriteString(table.section + "\n" + table.String())
	}
	want := `rules
what           objects  compared with  ratio  worst  celadon  other
rules, create  2        upstream       14x    2.00x  100 ns   1.00 µs
check
what                objects  compared with                   ratio  worst  celadon   other
files, peak memory  1        decoding with sigs.k8s.io/json  0.10x         58.0 MiB  5.80 MiB
start
what  objects  compared with  ratio  worst  celadon  other
size  1                                     43.4 MB
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{
		0.024: "0.02 ns", 4.347: "4.35 ns", 16.94e3: "16.9 µs", 321e6: "321 ms", 3210e9: "3210 s",
	} {
		if got := figureText(value, "ns/op"); got != want {
			t.Errorf("figure %v: got %s, want %s", value, got, want)
		}
	}
	for ratio, want := range map[float64]string{0.25: "0.25x", 2.054: "2.05x", 84.2: "84x"} {
		if got := ratioText(ratio); got != want {
			t.Errorf("ratio %v: got %s, want %s", ratio, got, want)
		}
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		before, after []float64
		ratio         float64
		lost          bool
	}{
		{"equal", []float64{2, 2, 2}, []float64{2, 2, 2}, 1, false},
		{"faster", []float64{2, 2, 2}, []float64{1, 1, 1}, 0.5, false},
		{"at the limit", []float64{100, 100, 100}, []float64{110, 110, 110}, 1.1, false},
		{"slower", []float64{100, 100, 100}, []float64{111, 111, 111}, 1.11, true},
		{"one slow turn", []float64{100, 100, 100}, []float64{900, 100, 101}, 1.01, false},
		{"one fast turn before", []float64{1, 100, 100}, []float64{100, 100, 100}, 1, false},
		{"unordered", []float64{3, 1, 2}, []float64{6, 2, 4}, 2, true},
		{"even number of turns", []float64{1, 2}, []float64{2, 4}, 2, true},
		{"more turns of one", []float64{10}, []float64{10, 12, 14}, 1.2, true},
	} {
		c := change{before: tt.before, after: tt.after}
		if got := c.ratio(); got != tt.ratio {
			t.Errorf("%s: ratio %v, want %v", tt.name, got, tt.ratio)
		}
		if got := c.lost(); got != tt.lost {
			t.Errorf("%s: lost %t, want %t", tt.name, got, tt.lost)
		}
	}
}

func TestCompareAll(t *testing.T) {
	t.Parallel()
	before, after := &tree{name: "before"}, &tree{name: "after"}
	for _, tt := range []struct {
		name    string
		figures func(t *tree, turn int) []figure
		want    string
		turns   int
	}{
		{"no loss", func(*tree, int) []figure { return []figure{{"a", "ns/op", 1}, {"b", "ns/op", 2}} }, "", 3},
		{"a loss", func(t *tree, _ int) []figure {
			if t == after {
				return []figure{{"a", "ns/op", 1}, {"b", "ns/op", 3}}
			}
			return []figure{{"a", "ns/op", 1}, {"b", "ns/op", 2}}
		}, "slower than before by more than 10 %: b", 3 + 7},
		{"a loss that does not repeat", func(t *tree, turn int) []figure {
			if t == after && turn < 3 {
				return []figure{{"a", "ns/op", 2}}
			}
			return []figure{{"a", "ns/op", 1}}
		}, "", 3 + 7},
		{"more memory", func(t *tree, _ int) []figure {
			if t == after {
				return []figure{{"a", "ns/op", 1}, {"a", "MiB", 3}}
			}
			return []figure{{"a", "ns/op", 1}, {"a", "MiB", 2}}
		}, "slower than before by more than 10 %: a", 3 + 7},
		{"a new benchmark", func(t *tree, _ int) []figure {
			if t == after {
				return []figure{{"a", "ns/op", 1}, {"new", "ns/op", 9}}
			}
			return []figure{{"a", "ns/op", 1}}
		}, "", 3},
	} {
		turns := map[*tree]int{}
		err := compareAll(io.Discard, before, after, 3, []measurer{func(of *tree) ([]figure, error) {
			turns[of]++
			return tt.figures(of, turns[of]-1), nil
		}})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want || (tt.want != "") != errors.Is(err, errLost) {
			t.Errorf("%s: got error %q, want %q", tt.name, got, tt.want)
		}
		if turns[before] != tt.turns || turns[after] != tt.turns {
			t.Errorf("%s: turns %v, want %d of each", tt.name, turns, tt.turns)
		}
	}
}

func TestLowest(t *testing.T) {
	t.Parallel()
	got := lowest(parseFigures([]byte(`goos: linux
pkg: example.com/engine
BenchmarkValidate/create/re-used-2         	   10000	     21540 ns/op	    4021 B/op	      25 allocs/op
BenchmarkValidate/upstream-2                	     100	   2154000 ns/op
BenchmarkObject-2   	  200000	      6120.5 ns/op	 210.50 MB/s
BenchmarkObject-2   	  200000	      5120.5 ns/op	 210.50 MB/s
PASS
`)))
	want := []figure{{"Validate/create/re-used", "ns/op", 21540}, {"Object", "ns/op", 5120.5}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(figure{})); diff != "" {
		t.Error(diff)
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	c := change{name: "check", unit: "ns/op", before: []float64{1}, after: []float64{1.25}}
	c.print(&b)
	if got := strings.Join(strings.Fields(b.String()), " "); got != "check +25.0 % 1 1.25 ns/op LOST" {
		t.Errorf("got %q", got)
	}
}
