package repl

import (
	"context"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/repl"
	"github.com/celadon-cel/celadon/types"
)

// noFile is the File of a document that was not read from a file.
const noFile = "-"

// check returns an error if flags have invalid values or do not fit each other.
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

// setObject sets Object if there is one.
func (in *Inputs) setObject() {
	if len(in.Objects) == 1 {
		in.Object = in.Objects[0]
	}
}

type liveInputs struct{ object, crd []repl.Document }

// live reads the object that --object names, and its CRD, from the cluster. If in.KubeVersion is empty,
// live sets it to the version of the cluster.
func (h *host) live(ctx context.Context, in *Inputs) (liveInputs, error) {
	var l liveInputs
	client, err := in.Cluster.Connect(ctx, h.Complain, &in.KubeVersion)
	if err != nil {
		return l, err
	}
	crd, object, err := client.Object(ctx, in.Object)
	if err != nil {
		return l, err
	}
	if l.crd, err = documents(crd); err != nil {
		return l, err
	}
	l.object, err = documents(object)
	return l, err
}

// documents returns the documents of a chunk from a cluster. They have no file, and their names come
// from the server.
func documents(chunk input.Chunk) (docs []repl.Document, err error) {
	chunk.Each(func(doc *input.Document) bool {
		read := editable(doc)
		if err = read.err; err != nil {
			err = fmt.Errorf("--cluster: %w", err)
		}
		read.doc.File = noFile
		docs = append(docs, read.doc)
		return err == nil
	})
	return docs, err
}
