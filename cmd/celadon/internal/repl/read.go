package repl

import (
	"context"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/repl"
)

// readMemory is the heap size in bytes near which garbage is collected more often while objects are read.
const readMemory = 256 << 20

// read reads the documents of files and folders on all cores and passes them to take in order.
func (h *host) read(ctx context.Context, paths []string, take func(*repl.Input) error) error {
	if err := command.CheckPaths(h.given, paths...); err != nil {
		return err
	}
	return readAll(ctx, h.files(paths...), resource.NewFilter(paths).Ignores, take)
}

// readAll passes the documents of a source to take in order.
func readAll(ctx context.Context, source batch.Source, ignored func(*input.Document) bool, take func(*repl.Input) error) error {
	defer gctuning.CollectSeldom(400, readMemory)()
	work := func(doc *input.Document) *repl.Input {
		resource.Complete(doc)
		in := &repl.Input{File: doc.File, Line: doc.Line, Object: doc.Object, Err: doc.Err, Ignored: ignored(doc)}
		if doc.Live {
			in.Line = 0
		}
		in.Document = func() (repl.Document, error) {
			doc.Detach()
			e := editable(doc)
			return e.doc, e.err
		}
		return in
	}
	return batch.From(source, work, take).Run(ctx)
}
