package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/catalog"
)

// ownAtOnce is the number of cases that run concurrently. It is high, because nearly all of a
// case's time is spent waiting for a new CRD to be served.
const ownAtOnce = 16

// If update is set, tryOwn writes the server's responses to the files.
func (s *Server) tryOwn(ctx context.Context, all []*Own, report *Report, update bool) {
	seen := map[string]string{}
	for _, o := range all {
		name := o.CRD.Definition.Name
		if other := seen[name]; other != "" {
			report.Error(o.ID, fmt.Errorf("the CRD %s is also that of %s", name, other))
			return
		}
		seen[name] = o.ID
	}
	each(ownAtOnce, all, func(o *Own) {
		differences, err := s.tryOne(ctx, o, update)
		if err != nil {
			report.Error(o.ID, err)
			return
		}
		report.Add(o.ID, differences...)
	})
}

func (s *Server) tryOne(ctx context.Context, o *Own, update bool) ([]Difference, error) {
	r, converted, err := s.serveOwn(ctx, o)
	if err != nil {
		return nil, err
	}
	t, err := r.try(ctx, o.Case, o.namespace())
	if err != nil {
		return nil, err
	}
	if update {
		if err := o.rewrite(t.answer); err != nil {
			return nil, err
		}
	}
	out := converted
	if s.kubeVersion == "" { // the file has the response of the newest version
		out = append(out, o.differs("the server's response differs from the file (see -update)", t.answer)...)
	}
	e, err := compile(o.CRD, s.kubeVersion)
	if err != nil {
		return out, err
	}
	ours, err := decide(ctx, e, t.request)
	if err != nil {
		return out, err
	}
	return append(out, compare(t.answer, ours, everything)...), nil
}

// serveOwn writes CRDs to etcd that the server does not accept: v1beta1 CRDs, and CRDs that only newer
// servers accept.
func (s *Server) serveOwn(ctx context.Context, o *Own) (*Resource, []Difference, error) {
	var head metav1.TypeMeta
	data, err := yaml.YAMLToJSON(o.section("crd.yaml"))
	if err == nil {
		err = json.Unmarshal(data, &head)
	}
	if err != nil {
		return nil, nil, err
	}
	if head.APIVersion == catalog.APIVersionBeta {
		return s.serveBeta(ctx, data, o.CRD.Definition)
	}
	r, err := s.Serve(ctx, o.CRD.Definition)
	if apierrors.IsInvalid(err) && s.kubeVersion != "" {
		r, err = s.serveStored(ctx, o.CRD.Definition)
	}
	return r, nil, err
}

func (o *Own) rewrite(a Answer) error {
	data, err := o.update(a)
	if err != nil {
		return err
	}
	return os.WriteFile(o.file, data, 0o644)
}
