package repl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/celadon-cel/celadon/engine"
)

// sweepBlock is the number of objects that sweep passes to a call of work.
const sweepBlock = 256

// sweep calls work for n objects in blocks, on all cores, and merge with the results in the order of the
// objects. It returns errInterrupted if ctx ends, or an *engine.InternalError if work panics.
func sweep[T any](ctx context.Context, n int, work func(from, to int) T, merge func(T)) error {
	w := sweeper[T]{work: work, merge: merge, objects: n, pending: map[int]T{}}
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
	next    atomic.Int64 // the next block

	mu      sync.Mutex
	merged  int       // the number of blocks that were merged
	pending map[int]T // the results of later blocks
	err     error
}

// block processes the next block and reports whether there may be more.
func (w *sweeper[T]) block() (more bool) {
	defer func() {
		if p := recover(); p != nil {
			w.mu.Lock()
			w.err = &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
			w.mu.Unlock()
			more = false
		}
	}()
	b := int(w.next.Add(1)) - 1
	from := b * sweepBlock
	if from >= w.objects {
		return false
	}
	w.add(b, w.work(from, min(from+sweepBlock, w.objects)))
	return true
}

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
