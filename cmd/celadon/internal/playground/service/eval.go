package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/repl"
)

func (r *Service) eval(ctx context.Context, req *Request) (any, error) {
	s, err := repl.NewSession(repl.Config{KubeVersion: req.KubeVersion, Subresource: req.Subresource})
	if err != nil {
		return nil, err
	}
	in := repl.Inputs{Name: req.Of}
	for _, pane := range []struct {
		text input.Text
		docs *[]repl.Document
		path *string
	}{
		{input.Text{File: CRDFile, Data: []byte(req.CRD)}, &in.CRDs, &in.CRDPath},
		{input.Text{File: ObjectFile, Data: []byte(req.Object)}, &in.Objects, &in.ObjectPath},
		{input.Text{File: OldFile, Data: []byte(req.Old)}, &in.Olds, &in.OldPath},
	} {
		if len(pane.text.Data) == 0 {
			continue
		}
		*pane.path = pane.text.File
		for doc := range pane.text.Documents {
			data, bad := doc.JSON()
			if bad != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", doc.Location(), bad))
			}
			text, line, _ := doc.Source()
			*pane.docs = append(*pane.docs, repl.Document{File: doc.File, Text: text, Line: line, JSON: data})
		}
	}
	if err == nil {
		err = s.Start(in)
	}
	if err == nil {
		err = s.Go(req.Version, req.Path)
	}
	if err != nil {
		return nil, err
	}
	answer, err := s.Eval(ctx, req.Expr)
	var bad *engine.CompileError
	switch {
	case errors.As(err, &bad):
		return s.BrokenReport(bad), nil
	case err != nil:
		return nil, err
	}
	return answer.Report()
}
