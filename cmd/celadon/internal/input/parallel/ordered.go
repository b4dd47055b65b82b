// Package parallel does work on many items at once and gives the results back
// one by one, in the order of the items.
package parallel

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Pipe is one run of work. No more than a few items are in it at a time,
// however many there are.
type Pipe[In, Out any] struct {
	Workers int
	// Produce sends the items until it has no more or send says false.
	Produce func(send func(In) bool)
	// Work is called on many goroutines.
	Work func(In) Out
	// Take gets the results in order, on the caller's goroutine.
	Take func(Out) error
	// Idle is called when the next result is not there yet; nil is nothing.
	Idle func() error
	// Weight is what an item takes of the Budget until it is taken; one that
	// takes more than all goes alone. Nil is nothing.
	Weight func(In) int64
	Budget int64
}

// aheadOf is how many items a worker may be ahead of what was taken.
const aheadOf = 4

type job[In, Out any] struct {
	in       In
	weight   int64
	out      Out
	panicked any
	done     chan struct{}
}

// Run runs the pipe until all is taken, Take or Idle fails, or the context is
// cancelled, which is its error. A panic of Work becomes one of Run.
func (p *Pipe[In, Out]) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := make(chan *job[In, Out])
	order := make(chan *job[In, Out], aheadOf*p.Workers)
	budget := semaphore.NewWeighted(p.Budget)
	go func() {
		defer close(jobs)
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
			return budget.Acquire(ctx, j.weight) == nil && send(ctx, order, j) && send(ctx, jobs, j)
		})
	}()
	var workers sync.WaitGroup
	for range p.Workers {
		workers.Go(func() {
			for j := range jobs {
				p.do(j)
			}
		})
	}
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

// next receives; where it would have to wait it first calls idle.
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
