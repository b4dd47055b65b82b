package parse_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/celexprs"
)

// CELADON_PARSES sets the number of expressions.
func TestMadeUpExpressions(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	total := 6_000
	if n, err := strconv.Atoi(os.Getenv("CELADON_PARSES")); err == nil {
		total = n
	}
	texts := celexprs.Many(t)
	kube, _ := kubernetes(t)
	all := append([]side{kube, kube, kube}, sides(t)...)
	var next, accepted atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := next.Add(1); i <= int64(total) && !t.Failed(); i = next.Add(1) {
				if i%100_000 == 0 {
					t.Logf("%d expressions, %d accepted", i, accepted.Load())
				}
				r := rand.New(rand.NewPCG(uint64(i), 20))
				var src string
				switch r.IntN(8) {
				case 0, 1, 2, 3, 4:
					src = celexprs.Random(r)
				case 5:
					src = celexprs.Mutated(r, celexprs.Random(r), celexprs.Random(r))
				default:
					src = celexprs.Mutated(r, texts[r.IntN(len(texts))], texts[r.IntN(len(texts))])
				}
				if all[r.IntN(len(all))].compare(t, src) {
					accepted.Add(1)
				}
				tolerable(t, kube, src)
			}
		})
	}
	group.Wait()
	t.Logf("%d of %d accepted", accepted.Load(), total)
	if total >= 1000 && accepted.Load() < int64(total/3) {
		t.Errorf("%d accepted, want a third of %d", accepted.Load(), total)
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range celexprs.Kinds()[:300] {
		f.Add(src)
	}
	all := sides(f)
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 300 || strings.Count(src, "opt") > 6 {
			return // cel-go takes too long
		}
		for _, s := range all {
			s.compare(t, src)
			tolerable(t, s, src)
		}
	})
}
