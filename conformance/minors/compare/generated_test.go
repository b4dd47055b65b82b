package compare

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/types"
)

var (
	crds   = flag.Int("crds", 300, "how many CRDs a run compares")
	writes = flag.Int("writes", 4, "how many writes a run compares for each CRD")
	rules  = flag.Int("rules", 0, "how many rules of a CRD a run compares; all if 0")
	seed   = flag.Uint64("seed", 1, "the seed of the first CRD")
	only   = flag.String("minors", "", "the minor versions to compare, such as 1.28,1.31; all if empty")
)

func oracles(t *testing.T) (folder string, found []types.Version) {
	t.Helper()
	if folder = os.Getenv("CELADON_ORACLES"); folder == "" {
		t.Skip("CELADON_ORACLES names no folder of programs: make -C conformance oracles builds them")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	for minor := types.Oldest; minor <= types.Last; minor++ {
		v := types.Version{Minor: minor}
		if *only != "" && !strings.Contains(","+*only+",", ","+v.String()+",") {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, v.String())); err != nil {
			t.Errorf("%s: %v", v, err)
			continue
		}
		found = append(found, v)
	}
	return folder, found
}

func TestGenerated(t *testing.T) {
	folder, versions := oracles(t)
	for _, v := range versions {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			r := newRun(t, folder, v)
			own, err := ownCases()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range own {
				if err := r.Case(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			g := NewGenerator(types.Last)
			g.Rules = *rules
			for n := range uint64(*crds) {
				c, err := g.Case(*seed+n, *writes)
				if err != nil {
					t.Fatal(err)
				}
				if c == nil {
					continue
				}
				if err := r.Case(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			check(t, r)
		})
	}
}

func newRun(t *testing.T, folder string, v types.Version) *Run {
	t.Helper()
	oracle, err := StartOracle(filepath.Join(folder, v.String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := oracle.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Run{
		Minor: v.Minor, Oracle: oracle, Server: &Server{KubeVersion: v.String()},
		Reasons: map[string]int{}, Classes: map[string]int{}, Examples: map[string]string{},
	}
}

func check(t *testing.T, r *Run) {
	t.Helper()
	var b strings.Builder
	r.Print(&b)
	t.Log("\n" + b.String())
	if len(r.Classes) > 0 {
		t.Error("there are differences")
	}
	for _, reason := range r.TooManyKnown() {
		t.Errorf("too many differences: %s", reason)
	}
}
