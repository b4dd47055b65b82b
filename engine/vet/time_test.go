package vet

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/internal/mutant"
)

// TestRulesTime holds the time that rules add to a vetting against what they
// add to the API server's own function, on the largest CRDs.
func TestRulesTime(t *testing.T) {
	files := corpusFiles(t)
	if len(files) == 0 || testing.Short() {
		return
	}
	var sum [4]time.Duration
	for _, path := range largest(t, files, 5) {
		crd := readCRD(t, path)
		bare := crd.DeepCopy()
		mutant.EachSchema(bare, func(s *schemaProps) { s.XValidations = nil })
		got := fastest(
			func() { upstream(t, crd, nil) },
			func() { upstream(t, bare, nil) },
			func() { ours(t, crd, nil) },
			func() { ours(t, bare, nil) },
		)
		for i := range sum {
			sum[i] += got[i]
		}
		t.Logf("%s: %d rules: server's %v (%v without rules), ours %v (%v)", filepath.Base(path), countRules(crd), got[0], got[1], got[2], got[3])
	}
	ratio := float64(sum[2]-sum[3]) / float64(sum[0]-sum[1])
	t.Logf("rules: ours %v, server's %v, ratio %.3f; whole: ours %v, server's %v", sum[2]-sum[3], sum[0]-sum[1], ratio, sum[2], sum[0])
}

// fastest is the least processor time of several runs of each function, in
// turns and without garbage collection: what else the machine does then weighs
// little.
func fastest(list ...func()) (best [4]time.Duration) {
	for i := range best {
		best[i] = time.Hour
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range 7 {
		for i, f := range list {
			runtime.GC()
			start := processorTime()
			f()
			best[i] = min(best[i], processorTime()-start)
		}
	}
	return best
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// largest are the n files with most bytes, of different CRDs.
func largest(t testing.TB, files []string, n int) []string {
	t.Helper()
	size := map[string]int64{}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		size[path] = info.Size()
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(size[b], size[a]) })
	var picked []string
	var seen []*apiextensionsv1.CustomResourceDefinition
	for _, path := range files {
		crd := readCRD(t, path)
		same := func(other *apiextensionsv1.CustomResourceDefinition) bool { return other.Name == crd.Name }
		if len(picked) < n && !slices.ContainsFunc(seen, same) {
			picked, seen = append(picked, path), append(seen, crd)
		}
		if len(picked) == n {
			break
		}
	}
	return picked
}
