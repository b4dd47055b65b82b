// Command celadon implements the protocol of the conformance suite with package engine.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/conformance/suite"
	"github.com/celadon-cel/celadon/engine"
)

func main() {
	if err := serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s := &server{}
	return suite.Serve(in, out, suite.Answer{Name: "celadon", Levels: suite.Levels()}, func(req *suite.Request) (*suite.Response, error) {
		return s.write(ctx, req)
	})
}

type server struct {
	key    string
	engine *engine.Engine
}

func (s *server) write(ctx context.Context, req *suite.Request) (*suite.Response, error) {
	if key := req.Minor + " " + req.CRDID; key != s.key {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := json.Unmarshal(req.CRD, crd); err != nil {
			return nil, err
		}
		e, err := engine.Compile(crd, engine.Config{KubeVersion: req.Minor})
		if err != nil {
			return nil, err
		}
		s.key, s.engine = key, e
	}
	write := engine.Request{Subresource: req.Subresource, FieldValidation: req.FieldValidation}
	var err error
	if write.Object, err = engine.Decode(req.Object); err != nil {
		return nil, err
	}
	if req.OldObject != nil {
		if write.OldObject, err = engine.Decode(req.OldObject); err != nil {
			return nil, err
		}
	}
	result, err := s.engine.Validate(ctx, write)
	if err != nil {
		return nil, err
	}
	return response(result, req.OldObject != nil)
}

func response(result *engine.Result, update bool) (r *suite.Response, err error) {
	r = &suite.Response{Allowed: result.Allowed, Code: 201, Warnings: result.Warnings, Cost: &result.Cost}
	if update {
		r.Code = 200
	}
	if result.Failure != nil {
		r.Code, r.Message = int(result.Failure.Code), result.Failure.Message
	}
	for _, c := range result.Causes {
		r.Causes = append(r.Causes, suite.Cause{Reason: string(c.Reason), Field: c.Field, Message: c.Message})
	}
	if result.Allowed {
		r.Object, err = json.Marshal(result.Object)
	}
	return r, err
}
