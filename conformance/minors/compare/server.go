package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
)

var limits = cost.Limits{}.WithDefaults()

// A Server validates with Celadon, for one Kubernetes minor version. It keeps the last compiled CRD.
type Server struct {
	KubeVersion string
	key         string
	engine      *engine.Engine
}

// ErrUndecided is the error for CRDs and writes that exceed Celadon's work limits.
var ErrUndecided = errors.New("undecided: too much work")

// CRD returns Celadon's verdict on a new CRD.
func (s *Server) CRD(ctx context.Context, crd json.RawMessage) (Verdict, error) {
	r, err := vet.Vet(ctx, crd, vet.Config{KubeVersion: s.KubeVersion, FieldValidation: "Ignore", WithoutLints: vet.LintNames()})
	if err != nil {
		return nil, err
	}
	v := Verdict{}
	switch {
	case r.Undecided != nil:
		return nil, ErrUndecided
	case r.Panic != nil:
		return Verdict{panics: {"yes"}}, nil
	case r.Status != nil && len(r.Causes) == 0:
		return Verdict{unreadable: {r.Status.Message}}, nil
	}
	for _, c := range r.Causes {
		v.add(crdError, errorLine(string(c.Type), c.Field, c.Message))
	}
	for _, w := range r.Warnings {
		v.add(warning, w)
	}
	for _, version := range r.Versions {
		for _, one := range version.Rules {
			v.add(rule, lineOf(version.Name, &one).String())
		}
	}
	return v.sorted(), nil
}

// The path is in the schema, as an Oracle returns it.
func lineOf(version string, r *vet.Rule) ruleLine {
	path := r.Field[strings.Index(r.Field, "openAPIV3Schema"):]
	path = strings.TrimSuffix(path, fmt.Sprintf(".x-kubernetes-validations[%d]", r.Index))
	return ruleLine{
		version: version, path: path, index: r.Index, estimate: r.EstimatedCost, times: r.Cardinality, total: r.EstimatedTotal,
		message: r.MessageExpressionCost, broken: r.Broken,
	}
}

// Write returns Celadon's verdict on a write.
func (s *Server) Write(ctx context.Context, w *Write) (Verdict, error) {
	if key := w.Version + string(w.CRD); key != s.key {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := json.Unmarshal(w.CRD, crd); err != nil {
			return nil, err
		}
		e, err := engine.Compile(crd, engine.Config{KubeVersion: s.KubeVersion})
		if e == nil {
			return nil, err
		}
		s.key, s.engine = key, e
	}
	req, err := w.request()
	if err != nil {
		return nil, err
	}
	res, err := s.engine.Validate(ctx, *req)
	var work *engine.WorkLimitError
	switch {
	case errors.As(err, &work):
		return nil, ErrUndecided
	case err != nil:
		return nil, err
	case res.Undecided != nil:
		return nil, ErrUndecided
	case res.Unread != nil:
		return Verdict{unreadable: {withoutChance(res.Unread.Error())}}, nil
	}
	return verdictOf(w, res)
}

func (w *Write) request() (*engine.Request, error) {
	req := &engine.Request{Subresource: w.Subresource, FieldValidation: "Warn"}
	var err error
	if req.Object, err = engine.Decode(w.Object); err != nil || w.Old == nil {
		return req, err
	}
	if req.OldObject, err = engine.Decode(w.Old); err != nil {
		return nil, err
	}
	if metadata, ok := req.OldObject["metadata"].(map[string]any); ok {
		metadata["managedFields"] = []any{} // an Oracle has none
	}
	return req, nil
}

func verdictOf(w *Write, res *engine.Result) (Verdict, error) {
	v := Verdict{}
	switch {
	case res.Failure != nil:
		v.add(code, strconv.Itoa(int(res.Failure.Code)))
	case w.Old != nil:
		v.add(code, "200")
	default:
		v.add(code, "201")
	}
	for _, c := range res.Causes {
		v.add(cause, errorLine(string(c.Reason), c.Field, c.Message))
	}
	for _, text := range res.Warnings {
		if !strings.HasPrefix(text, "unknown field ") {
			v.add(warning, text)
		}
	}
	for _, e := range res.Strict {
		v.add(unknown, e.Field)
	}
	v.add(runCost, strconv.FormatInt(min(res.Cost, limits.PerObject+1), 10)) // an Oracle does not count beyond the limit
	if res.Allowed {
		line, err := objectLine(res.Object)
		if err != nil {
			return nil, err
		}
		v[persisted] = []string{line}
	}
	return v.sorted(), nil
}
