package repl

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
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

// readCluster reads the objects that a CRD defines in a cluster. It returns the name of the cluster.
func (h *host) readCluster(ctx context.Context, flags cluster.Flags, crd *apiextensionsv1.CustomResourceDefinition, namespace string, take func(*repl.Input) error) (string, error) {
	flags.On = true
	if namespace != "" {
		flags.Namespace = namespace
	}
	if err := flags.Check(); err != nil {
		return "", err
	}
	client, err := flags.Open()
	if err != nil {
		return "", err
	}
	client.Warn = h.Complain
	kind, err := cluster.KindOf(crd)
	if err != nil {
		return "", err
	}
	err = readAll(ctx, batch.Source(client.Objects(ctx, []cluster.Kind{kind})), func(*input.Document) bool { return false }, take)
	if err == nil {
		err = ctx.Err()
	}
	return client.String(), err
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
