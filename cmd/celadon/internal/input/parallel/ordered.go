// Package parallel processes items on several goroutines and delivers the results sequentially, in
// the order of the items.
package parallel

import (
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// Each calls work with each item of a list on all cores, and passes the results to take in the order of the items, as Run
// does.
func Each[In, Out any](ctx context.Context, list []In, work func(In) Out, take func(Out) error) error {
	p := &Pipe[In, Out]{Workers: runtime.GOMAXPROCS(0), Work: work, Take: take, Produce: func(send func(In) bool) {
		for _, item := range list {
			if !send(item) {
				return
			}
		}
	}}
	return p.Run(ctx)
}

// A Pipe describes a run. It holds only a few items at a time, however many there are.
type Pipe[In, Out any] struct {
	Workers int
	// Produce sends the items, until it has no more or send returns false.
	Produce func(send func(In) bool)
	// Work processes an item. It is called on several goroutines at once.
	Work func(In) Out
	// Take receives the results in order, on the goroutine that called Run.
	Take func(Out) error
	// Idle, if not nil, is called before Run waits for the next result.
	Idle func() error
	// Weight, if not nil, returns the part of Budget that an item occupies until its result is
	// taken. An item heavier than the whole budget is processed alone.
	Weight func(In) int64
	Budget int64
}

// itemsPerWorker bounds how many items per worker wait for Take.
const itemsPerWorker = 4

type job[In, Out any] struct {
	in       In
	weight   int64
	out      Out
	panicked any
	done     chan struct{}
}

// Run runs the pipe until all results are taken. It returns the first error of Take or Idle, or the context's error if
// that is canceled first. If Produce or Work panics, Run panics with the same value.
func (p *Pipe[In, Out]) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	order := make(chan *job[In, Out], itemsPerWorker*p.Workers)
	working := make(chan struct{}, p.Workers)
	budget := semaphore.NewWeighted(p.Budget)
	go func() {
		defer close(order)
		defer func() {
			if v := recover(); v != nil {
				cancel(&panicError{v})
			}
		}()
		p.Produce(func(in In) bool {
			j := &job[In, Out]{in: in, done: make(chan struct{})}
			if p.Weight != nil {
				j.weight = min(p.Weight(in), p.Budget)
			}
			if budget.Acquire(ctx, j.weight) != nil || !send(ctx, order, j) || !send(ctx, working, struct{}{}) {
				return false
			}
			go func() {
				p.do(j)
				<-working
			}()
			return true
		})
	}()
	err := p.take(ctx, order, budget)
	var panicked *panicError
	if errors.As(context.Cause(ctx), &panicked) {
		panic(panicked.value)
	}
	return err
}

type panicError struct{ value any }

func (*panicError) Error() string { return "panic" }

func send[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *Pipe[In, Out]) do(j *job[In, Out]) {
	defer close(j.done)
	defer func() { j.panicked = recover() }()
	j.out = p.Work(j.in)
}

func (p *Pipe[In, Out]) take(ctx context.Context, order <-chan *job[In, Out], budget *semaphore.Weighted) error {
	for {
		j, ok, err := next(ctx, order, p.idle)
		if err != nil || !ok {
			return err
		}
		if _, _, err := next(ctx, j.done, p.idle); err != nil {
			return err
		}
		if j.panicked != nil {
			panic(j.panicked)
		}
		if err := p.Take(j.out); err != nil {
			return err
		}
		budget.Release(j.weight)
	}
}

func (p *Pipe[In, Out]) idle() error {
	if p.Idle == nil {
		return nil
	}
	return p.Idle()
}

func next[T any](ctx context.Context, from <-chan T, idle func() error) (v T, ok bool, err error) {
	if ctx.Err() != nil {
		return v, false, ctx.Err()
	}
	select {
	case v, ok = <-from:
		return v, ok, nil
	default:
	}
	if err := idle(); err != nil {
		return v, false, err
	}
	select {
	case v, ok = <-from:
		return v, ok, nil
	case <-ctx.Done():
		return v, false, ctx.Err()
	}
}
