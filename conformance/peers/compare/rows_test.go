package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		base, head []float64
		change     float64
		lost       bool
	}{
		{"equal", []float64{2, 2, 2}, []float64{2, 2, 2}, 1, false},
		{"faster", []float64{2, 2, 2}, []float64{1, 1, 1}, 0.5, false},
		{"at the limit", []float64{100, 100, 100}, []float64{110, 110, 110}, 1.1, false},
		{"slower", []float64{100, 100, 100}, []float64{111, 111, 111}, 1.11, true},
		{"one slow turn", []float64{100, 100, 100}, []float64{900, 100, 101}, 1.01, false},
		{"one fast turn of base", []float64{1, 100, 100}, []float64{100, 100, 100}, 1, false},
		{"unordered", []float64{3, 1, 2}, []float64{6, 2, 4}, 2, true},
		{"even number of turns", []float64{1, 2}, []float64{2, 4}, 2, true},
		{"more turns of one", []float64{10}, []float64{10, 12, 14}, 1.2, true},
	} {
		r := row{base: tt.base, head: tt.head}
		if got := r.change(); got != tt.change {
			t.Errorf("%s: change %v, want %v", tt.name, got, tt.change)
		}
		if got := r.lost(permittedLoss); got != tt.lost {
			t.Errorf("%s: lost %t, want %t", tt.name, got, tt.lost)
		}
	}
}

// TestCompareAll compares made-up figures.
func TestCompareAll(t *testing.T) {
	t.Parallel()
	base, head := &commit{name: "base"}, &commit{name: "head"}
	for _, tt := range []struct {
		name    string
		figures func(c *commit, turn int) map[string]float64
		want    string
		turns   int
	}{
		{"no loss", func(*commit, int) map[string]float64 { return map[string]float64{"a": 1, "b": 2} }, "", 3},
		{"a loss", func(c *commit, _ int) map[string]float64 {
			if c == head {
				return map[string]float64{"a": 1, "b": 3}
			}
			return map[string]float64{"a": 1, "b": 2}
		}, "slower than before by more than 10 %: b", 3 + 7},
		{"a loss that does not repeat", func(c *commit, turn int) map[string]float64 {
			if c == head && turn < 3 {
				return map[string]float64{"a": 2}
			}
			return map[string]float64{"a": 1}
		}, "", 3 + 7},
		{"a new row", func(c *commit, _ int) map[string]float64 {
			if c == head {
				return map[string]float64{"a": 1, "new": 9}
			}
			return map[string]float64{"a": 1}
		}, "", 3},
	} {
		turns := map[*commit]int{}
		err := compareAll(io.Discard, base, head, 3, []measurer{func(c *commit, add func(string, string, float64)) error {
			for name, figure := range tt.figures(c, turns[c]) {
				add(name, "s", figure)
			}
			turns[c]++
			return nil
		}})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want || (tt.want != "") != errors.Is(err, errLost) {
			t.Errorf("%s: got error %q, want %q", tt.name, got, tt.want)
		}
		if turns[base] != tt.turns || turns[head] != tt.turns {
			t.Errorf("%s: turns %v, want %d of each", tt.name, turns, tt.turns)
		}
	}
}

func TestBenchmarkTimes(t *testing.T) {
	t.Parallel()
	const out = `goos: linux
pkg: example.com/engine
BenchmarkValidate/create/re-used-2         	   10000	     21540 ns/op	    4021 B/op	      25 allocs/op
BenchmarkValidate/upstream-2                	     100	   2154000 ns/op
BenchmarkObject-2   	  200000	      6120.5 ns/op	 210.50 MB/s
BenchmarkObject-2   	  200000	      5120.5 ns/op	 210.50 MB/s
PASS
`
	times, err := benchmarkTimes([]byte(out))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, b := range times {
		got[b.Name] = b.NsPerOp
	}
	if diff := cmp.Diff(map[string]float64{"Validate/create/re-used": 21540, "Object": 5120.5}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	r := row{name: "check", unit: "s", base: []float64{1}, head: []float64{1.25}}
	r.print(&b, permittedLoss)
	if got := strings.Join(strings.Fields(b.String()), " "); got != "check +25.0 % 1 1.25 s LOST" {
		t.Errorf("got %q", got)
	}
}
