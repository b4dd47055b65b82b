// Package batch reads what stands in files, folders and streams, works on it on
// all cores, and takes the results in the order of the input.
package batch

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/parallel"
)

// Chunks travel in batches, so that small ones do not cost a hand-over each.
const batchBytes = 64 << 10

const (
	// budgetBytes is how much text is being worked on at a time; a core has at
	// least a few batches. In memory values take up to a hundred times more.
	budgetBytes = 2 << 20
	perCore     = 5 * batchBytes
	// large documents go alone.
	large = 1 << 20
)

// batches puts chunks together until they are enough, or the reader would have
// to wait for more.
type batches struct {
	send  func([]input.Chunk) bool
	batch []input.Chunk
	bytes int
	done  bool // nobody takes any more
}

func (b *batches) add(c input.Chunk) bool {
	b.batch = append(b.batch, c)
	if b.bytes += c.Size(); b.bytes >= batchBytes {
		b.flush()
	}
	return !b.done
}

func (b *batches) flush() {
	if len(b.batch) > 0 && !b.done {
		b.done = !b.send(b.batch)
	}
	b.batch, b.bytes = nil, 0
}

// ErrStopped is for a take that wants no more.
var ErrStopped = errors.New("stopped")

// Parallel reads what stands below the paths, works on each document on all
// cores, and takes the results in the order of the input.
func Parallel[T any](stdin io.Reader, paths []string, work func(*input.Document) T, take func(T) error) *parallel.Pipe[[]input.Chunk, []T] {
	return Selected(input.Selection{}, stdin, paths, work, take)
}

// Selected is Parallel for a part of what stands in folders.
func Selected[T any](s input.Selection, stdin io.Reader, paths []string, work func(*input.Document) T, take func(T) error) *parallel.Pipe[[]input.Chunk, []T] {
	return From(func(wait func(), yield func(input.Chunk) bool) { s.Scan(stdin, paths, wait, yield) }, work, take)
}

// Source gives chunks, until yield says false. Before it waits for more it calls wait.
type Source func(wait func(), yield func(input.Chunk) bool)

// From is Parallel for any source.
func From[T any](source Source, work func(*input.Document) T, take func(T) error) *parallel.Pipe[[]input.Chunk, []T] {
	workers := runtime.GOMAXPROCS(0)
	return &parallel.Pipe[[]input.Chunk, []T]{
		Workers: workers,
		Budget:  int64(max(budgetBytes, workers*perCore)),
		Weight:  weight,
		Produce: func(send func([]input.Chunk) bool) {
			b := batches{send: send}
			source(b.flush, b.add)
			b.flush()
		},
		Work: func(batch []input.Chunk) []T {
			results := make([]T, 0, len(batch))
			for _, c := range batch {
				c.Each(func(doc *input.Document) bool {
					results = append(results, work(doc))
					return true
				})
			}
			return results
		},
		Take: func(results []T) error {
			for _, r := range results {
				if err := take(r); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func weight(batch []input.Chunk) int64 {
	n := 0
	for _, c := range batch {
		n += c.Size()
	}
	if n > large {
		gctuning.Often() // beside a large document it would grow to several times of much
		return math.MaxInt64
	}
	return int64(n)
}

// All is Parallel for what is read once and kept.
func All[T any](ctx context.Context, stdin io.Reader, paths []string, decode func(*input.Document) T, take func(T) error) error {
	return Parallel(stdin, paths, decode, take).Run(ctx)
}
