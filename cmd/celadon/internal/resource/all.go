package resource

import (
	"context"
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
)

// All decodes the CRDs at and below paths, in order. Decode, like Decode in this package, returns
// nil for a document of another kind. All prints errors and then returns broken as true, but in
// folders it skips the documents that a Filter ignores. It returns an error if it finds no CRD.
func All[T any](ctx context.Context, s command.Streams, paths []string, decode func(*input.Document) (*T, error)) (crds []*T, broken bool, err error) {
	type one struct {
		crd *T
		err error
	}
	filter := NewFilter(paths)
	read := func(doc *input.Document) one {
		Complete(doc)
		if filter.Ignores(doc) {
			return one{}
		}
		crd, err := decode(doc)
		if err != nil {
			err = fmt.Errorf("%s: %w", doc.Location(), err)
		}
		return one{crd, err}
	}
	err = batch.From(Files(s.Stdin, paths), read, func(r one) error {
		switch {
		case r.err != nil:
			broken = true
			s.Complain(r.err)
		case r.crd != nil:
			crds = append(crds, r.crd)
		}
		return nil
	}).Run(ctx)
	for _, note := range filter.Notes() {
		s.Complain(note)
	}
	switch {
	case err != nil || len(crds) > 0:
		return crds, broken, err
	case broken:
		return nil, broken, &command.ExitError{Code: command.Usage}
	}
	return nil, broken, &command.ExitError{Code: command.Usage, Err: fmt.Errorf("no CustomResourceDefinition in %s", strings.Join(paths, ", "))}
}
