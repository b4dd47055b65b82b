package repl

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, sweepBlock, 10*sweepBlock + 1} {
		var got []int
		err := sweep(t.Context(), n, func(from, to int) []int {
			var block []int
			for i := from; i < to; i++ {
				block = append(block, i)
			}
			return block
		}, func(block []int) { got = append(got, block...) })
		for i := range got {
			if got[i] != i {
				t.Fatalf("%d: object %d at %d", n, got[i], i)
			}
		}
		if err != nil || len(got) != n {
			t.Errorf("%d: %d objects, %v", n, len(got), err)
		}
	}
}

// TestSweepLimits checks that few results wait for a slow block, and that a panic and an interruption end
// all goroutines.
func TestSweepLimits(t *testing.T) {
	t.Parallel()
	const objects = 200*sweepBlock + 1
	var started sync.Map
	err := sweep(t.Context(), objects, func(from, _ int) int {
		b := from / sweepBlock
		started.Store(b, true)
		return b
	}, func(b int) {
		if _, early := started.Load(b + maxAhead); early {
			t.Errorf("block %d started before block %d was merged", b+maxAhead, b)
		}
	})
	if err != nil {
		t.Error(err)
	}
	err = sweep(t.Context(), objects, func(from, _ int) int {
		if from == 0 {
			panic("broken")
		}
		return 0
	}, func(int) { t.Error("merged a result after the block that failed") })
	var bug *engine.InternalError
	if !errors.As(err, &bug) || bug.Reason != "broken" {
		t.Errorf("after a panic: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = sweep(ctx, objects, func(int, int) int { cancel(); return 0 }, func(int) {})
	if !errors.Is(err, errInterrupted) {
		t.Errorf("after an interruption: %v", err)
	}
}
