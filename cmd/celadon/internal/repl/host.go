package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/filename"
	"github.com/celadon-cel/celadon/internal/yaml/emit"
	"github.com/celadon-cel/celadon/repl"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

type host struct {
	command.Streams
	given *pflag.FlagSet
	// opened is set when the files of the command line have been read. From then on, files are named by lines
	// of the session, which can come from an untrusted file.
	opened bool
}

func (h *host) ofSession() repl.Host {
	load := func(path string) ([]repl.Document, error) { return h.load(context.Background(), path) }
	server := builtins.Alone()
	return repl.Host{
		Load: load, Read: h.read, Save: saveDocument, Files: filesBelow,
		Check: check(verdict.Single{Server: server}), CheckStatus: check(verdict.Single{Server: server, Subresource: "status"}),
		CheckApply: func(w *apply.Writer, how apply.Write) repl.Checker {
			return check(verdict.Single{Writer: w, Apply: how, Server: server})
		},
		Builtins: &policyrequest.Builtins{Server: server}, Now: time.Now,
	}
}

func (h *host) load(ctx context.Context, path string) (docs []repl.Document, err error) {
	if path == "" {
		return nil, nil
	}
	if err := command.CheckPaths(h.given, path); err != nil {
		return nil, err
	}
	size := 0
	err = batch.Each(ctx, h.files(path), func(d *input.Document) error {
		doc, err := editable(d)
		docs = append(docs, doc)
		if size += len(doc.Text); h.opened && size > maxLoaded {
			return fmt.Errorf("%s: more than %d MiB: want a smaller file", path, maxLoaded>>20)
		}
		return err
	})
	return docs, err
}

// maxLoaded limits the size of the documents that a line of a session loads, in bytes.
const maxLoaded = 64 << 20

// files returns the source of the documents at and below paths. Once opened is set, it does not read pipes
// and devices.
func (h *host) files(paths ...string) batch.Source {
	return resource.Sourced(batch.Selected(input.Selection{Regular: h.opened}, h.Stdin, paths), nil)
}

// editable returns a document with its source. The File of a generated CRD differs from the file that it was
// generated from, because saving the CRD must not replace that file.
func editable(d *input.Document) (doc repl.Document, err error) {
	doc.File, doc.Line, doc.Item = d.File, 1, d.Item
	doc.JSON, err = d.JSON()
	switch {
	case err != nil:
	case d.Original == nil:
		doc.Text, doc.Line, doc.InList = d.Source()
	default:
		var name string
		if name, err = filename.Join("", d.Identity().Name+".yaml"); err == nil {
			doc.Text, err = emit.YAML(d.Object)
		}
		doc.File += "#" + name
	}
	if err != nil {
		return repl.Document{}, fmt.Errorf("%s: %w", d.Location(), err)
	}
	return doc, nil
}

func filesBelow(prefix string) []string {
	folder, name := filepath.Split(prefix)
	entries, err := os.ReadDir(cmp.Or(folder, "."))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(name, ".")
		switch path := folder + e.Name(); {
		case hidden || !strings.HasPrefix(e.Name(), name):
		case e.IsDir():
			out = append(out, path+string(filepath.Separator))
		case input.Readable(path):
			out = append(out, path)
		}
	}
	return out
}

func check(w verdict.Single) repl.Checker {
	return func(ctx context.Context, e *engine.Engine, obj, old *repl.Document) (string, error) {
		value, err := engine.Decode(obj.JSON)
		if err != nil {
			return "", err
		}
		var before map[string]any
		if old != nil {
			if before, err = engine.Decode(old.JSON); err != nil {
				return "", err
			}
		}
		w := w
		w.Engine = e
		return verdict.One(ctx, w, input.Edited(obj.File, obj.Text, obj.Line, obj.Item, obj.InList, value), before)
	}
}

// readMemory is the heap size in bytes near which garbage is collected more often while objects are read.
const readMemory = 256 << 20

// read passes the documents to take in order.
func (h *host) read(ctx context.Context, paths []string, take func(*repl.Input) error) error {
	if err := command.CheckPaths(h.given, paths...); err != nil {
		return err
	}
	defer gctuning.CollectSeldom(400, readMemory)()
	filter := resource.NewFilter(paths)
	work := func(doc *input.Document) *repl.Input {
		resource.Complete(doc)
		in := &repl.Input{File: doc.File, Line: doc.Line, Object: doc.Object, Err: doc.Err, Ignored: filter.Ignores(doc)}
		in.Document = func() (repl.Document, error) {
			doc.Detach()
			return editable(doc)
		}
		return in
	}
	return batch.From(h.files(paths...), work, take).Run(ctx)
}

// noFile is the File of a document that was not read from a file.
const noFile = "-"

func (in *Inputs) check() error {
	if _, err := types.ParseVersion(in.KubeVersion); err != nil {
		return fmt.Errorf("--kube-version: %w", err)
	}
	switch {
	case in.Subresource != "" && in.Subresource != "status":
		return fmt.Errorf("--subresource %q: want status", in.Subresource)
	case in.Cluster.On && in.Object == "":
		return errors.New("--cluster: use --object KIND/NAME")
	case in.Cluster.On && in.Name != "":
		return errors.New("--name: --object KIND/NAME already gives the name: use --namespace instead")
	}
	return in.Cluster.Check()
}

// live reads the object that --object names, and its CRD, from the cluster. If in.KubeVersion is empty,
// live sets it to the version of the cluster.
func (h *host) live(ctx context.Context, in *Inputs) (objects, crds []repl.Document, err error) {
	client, err := in.Cluster.Connect(ctx, h.Complain, &in.KubeVersion)
	if err != nil {
		return nil, nil, err
	}
	crd, object, err := client.Object(ctx, in.Object)
	if err == nil {
		crds, err = documents(crd)
	}
	if err == nil {
		objects, err = documents(object)
	}
	return objects, crds, err
}

// documents returns the documents of a chunk from a cluster. They have no file, and their names come
// from the server.
func documents(chunk input.Chunk) (docs []repl.Document, err error) {
	chunk.Each(func(doc *input.Document) bool {
		var read repl.Document
		if read, err = editable(doc); err != nil {
			err = fmt.Errorf("--cluster: %w", err)
		}
		read.File = noFile
		docs = append(docs, read)
		return err == nil
	})
	return docs, err
}
