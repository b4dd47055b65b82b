package repl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/celadon-cel/celadon/engine"
)

const (
	// sweepBlock is the number of objects that sweep passes to a call of work.
	sweepBlock = 256
	// maxAhead limits the blocks that are processed before an earlier block is merged, because their
	// results are in memory until then.
	maxAhead = 64
)

// sweep calls work for n objects in blocks, on all cores, and merge with the results in the order of the
// objects. It returns errInterrupted if ctx ends, or an *engine.InternalError if work panics.
func sweep[T any](ctx context.Context, n int, work func(from, to int) T, merge func(T)) error {
	w := sweeper[T]{work: work, merge: merge, objects: n, pending: map[int]T{}}
	w.changed.L = &w.mu
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+sweepBlock-1)/sweepBlock) {
		wg.Go(func() {
			for ctx.Err() == nil && w.block() {
			}
		})
	}
	wg.Wait()
	if w.err == nil && ctx.Err() != nil {
		return errInterrupted
	}
	return w.err
}

var errInterrupted = errors.New("interrupted")

type sweeper[T any] struct {
	work    func(from, to int) T
	merge   func(T)
	objects int

	mu      sync.Mutex
	changed sync.Cond // of merged and err
	next    int       // the next block
	merged  int       // the number of blocks that were merged
	pending map[int]T // the results of later blocks
	err     error
}

// block processes the next block and reports whether there may be more.
func (w *sweeper[T]) block() (more bool) {
	defer func() {
		if p := recover(); p != nil {
			w.fail(&engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()})
			more = false
		}
	}()
	b, ok := w.take()
	if !ok {
		return false
	}
	from := b * sweepBlock
	w.add(b, w.work(from, min(from+sweepBlock, w.objects)))
	return true
}

// take returns the next block. It returns false if there is none, or if a block failed.
func (w *sweeper[T]) take() (b int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.next-w.merged >= maxAhead && w.err == nil {
		w.changed.Wait()
	}
	if w.err != nil || w.next*sweepBlock >= w.objects {
		return 0, false
	}
	w.next++
	return w.next - 1, true
}

func (w *sweeper[T]) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	w.changed.Broadcast()
}

// add merges the result of a block, and of the blocks after it, if all earlier blocks are merged.
func (w *sweeper[T]) add(b int, result T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending[b] = result
	for {
		result, ok := w.pending[w.merged]
		if !ok {
			return
		}
		delete(w.pending, w.merged)
		w.merged++
		w.merge(result)
		w.changed.Broadcast()
	}
}

// prepareWrite returns the write of an object as its rules see it. If only a webhook could convert the old
// object, the write is a create, as for the current object.
func prepareWrite(e *engine.Engine, st *state, object, old map[string]any) (*engine.Prepared, error) {
	p, err := e.Prepare(st.write(object, old))
	var unknown *engine.NotCheckedError
	if old != nil && errors.As(err, &unknown) {
		return e.Prepare(st.write(object, nil))
	}
	return p, err
}
