package parallel

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

func count(n int) func(func(int) bool) {
	return func(send func(int) bool) {
		for i := range n {
			if !send(i) {
				return
			}
		}
	}
}

func TestResultsComeInOrder(t *testing.T) {
	t.Parallel()
	want := 0
	p := Pipe[int, int]{
		Workers: 4,
		Produce: count(1000),
		Work: func(i int) int {
			if rand.IntN(10) == 0 {
				runtime.Gosched()
			}
			return i
		},
		Take: func(i int) error {
			if i != want {
				t.Fatalf("got %d, want %d", i, want)
			}
			want++
			return nil
		},
	}
	if err := p.Run(context.Background()); err != nil || want != 1000 {
		t.Fatalf("took %d: %v", want, err)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	const budget, heavy = 10, 7
	weight := func(i int) int64 {
		if i%heavy == 0 {
			return 100
		}
		return 3
	}
	var inside, alone, took atomic.Int64
	p := Pipe[int, int]{
		Workers: 8, Produce: count(200), Weight: weight, Budget: budget,
		Work: func(i int) int {
			if n := inside.Add(min(weight(i), budget)); n > budget {
				t.Errorf("%d are in the run, want at most %d", n, budget)
			}
			if i%heavy == 0 {
				alone.Add(1)
			}
			return i
		},
		Take: func(i int) error {
			took.Add(1)
			inside.Add(-min(weight(i), budget))
			return nil
		},
	}
	if err := p.Run(context.Background()); err != nil || took.Load() != 200 || alone.Load() == 0 {
		t.Errorf("took %d, %d of them alone: %v", took.Load(), alone.Load(), err)
	}
}

func TestTakeEndsTheRun(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	p := Pipe[int, int]{Workers: 2, Produce: count(1 << 30), Work: func(i int) int { return i }, Take: func(int) error { return full }}
	if err := p.Run(context.Background()); !errors.Is(err, full) {
		t.Fatalf("got %v, want %v", err, full)
	}
}

func TestCancelWhileProducerBlocks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	p := Pipe[int, int]{
		Workers: 2,
		Produce: func(send func(int) bool) {
			send(1)
			select {}
		},
		Work: func(i int) int { return i },
		Take: func(int) error {
			time.AfterFunc(time.Millisecond, cancel)
			return nil
		},
	}
	if err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want %v", err, context.Canceled)
	}
}

func TestPanicOfWork(t *testing.T) {
	t.Parallel()
	defer func() {
		if v := recover(); v != "boom" {
			t.Errorf("recovered %v, want boom", v)
		}
	}()
	p := Pipe[int, int]{Workers: 2, Produce: count(10), Work: func(int) int { panic("boom") }, Take: func(int) error { return nil }}
	_ = p.Run(context.Background())
	t.Error("no panic")
}
