// Package batch reads documents from files, folders, and streams, processes them on all cores, and
// delivers the results in the order of the input.
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

// batchBytes is the size at which a batch is sent. Sending small chunks individually would be slow.
const batchBytes = 64 << 10

const (
	// budgetBytes limits the bytes of input in progress; each core gets at least perCore. Decoded
	// values can take a hundred times more memory than their source.
	budgetBytes = 2 << 20
	perCore     = 5 * batchBytes
	large       = 1 << 20
)

// batches collects chunks until they are large enough, or until the reader would have to wait.
type batches struct {
	send  func([]input.Chunk) bool
	batch []input.Chunk
	bytes int
	done  bool
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
	b.batch, b.bytes = make([]input.Chunk, 0, len(b.batch)), 0
}

// ErrStopped is returned by a take function that needs no more results.
var ErrStopped = errors.New("stopped")

// A Source yields chunks until yield returns false. It calls wait before each read that may block.
type Source func(wait func(), yield func(input.Chunk) bool)

// Files returns a source of the documents at and below paths.
func Files(stdin io.Reader, paths []string) Source { return Selected(input.Selection{}, stdin, paths) }

// Selected is like Files, but reads only the files of folders that s selects.
func Selected(s input.Selection, stdin io.Reader, paths []string) Source {
	return func(wait func(), yield func(input.Chunk) bool) { s.Scan(stdin, paths, wait, yield) }
}

// Each passes the documents of source to take, in order.
func Each(ctx context.Context, source Source, take func(*input.Document) error) error {
	return From(source, func(doc *input.Document) *input.Document { return doc }, take).Run(ctx)
}

// From returns a Pipe that reads the documents of source, calls work for each on all cores, and passes the results
// to take in the order of the input.
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
		gctuning.CollectOften() // otherwise the heap would grow to several times the size of a large document
		return math.MaxInt64
	}
	return int64(n)
}
