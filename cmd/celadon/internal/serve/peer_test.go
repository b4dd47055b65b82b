//go:build unix

package serve

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine/admission"
)

// A peerSet decides creations with the libraries of the API server: pruning, defaults, schema, list
// types, and rules. It omits metadata, so it does less work than celadon.
type peerSet struct {
	mu       sync.RWMutex
	versions map[schema.GroupVersionKind]*peerVersion
}

type peerVersion struct {
	schema    *structuralschema.Structural
	validator validation.SchemaValidator
	rules     *upstreamcel.Validator
}

func (p *peerSet) put(crd *apiextensionsv1.CustomResourceDefinition) error {
	next := map[schema.GroupVersionKind]*peerVersion{}
	for _, v := range crd.Spec.Versions {
		internal := &apiextensions.CustomResourceValidation{}
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v.Schema, internal, nil); err != nil {
			return err
		}
		s, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}
		next[gvk] = &peerVersion{s, validator, upstreamcel.NewValidator(s, true, celconfig.PerCallLimit)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.versions == nil {
		p.versions = map[schema.GroupVersionKind]*peerVersion{}
	}
	maps.Copy(p.versions, next)
	return nil
}

func (p *peerSet) decide(ctx context.Context, req *admissionv1.AdmissionRequest) (*admission.Decision, error) {
	gvk := schema.GroupVersionKind(req.Kind)
	p.mu.RLock()
	v := p.versions[gvk]
	p.mu.RUnlock()
	obj := req.Object.Object.(*unstructured.Unstructured).Object // each request has its own object, which may be modified
	pruning.Prune(obj, v.schema, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(obj, v.schema)
	defaulting.Default(obj, v.schema)
	errs := validation.ValidateCustomResource(nil, obj, v.validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.schema, obj)...)
	if len(errs) == 0 && v.rules != nil {
		errs, _ = v.rules.Validate(ctx, nil, v.schema, obj, nil, celconfig.RuntimeCELCostBudget)
	}
	d := &admission.Decision{Kind: gvk, Verdict: admission.Allowed, Response: &admissionv1.AdmissionResponse{UID: req.UID, Allowed: len(errs) == 0}}
	if len(errs) > 0 {
		d.Verdict, d.Response.Result = admission.NotChecked, &metav1.Status{Code: 422, Message: errs.ToAggregate().Error()}
	}
	return d, nil
}

// The peer does not check metadata.
func (w *workload) verdictOnly() *workload {
	out := &workload{crds: w.crds}
	for _, item := range w.items {
		out.add(item.name, item.body, func(r *admissionv1.AdmissionResponse) string {
			full := *r
			if diff := item.right(&full); r.Allowed || diff != "" && full.Result == nil {
				return diff
			}
			return ""
		})
	}
	return out
}

// TestServeBesidePeer compares the server with one that uses the API server's libraries, in
// alternating turns. It runs only if CELADON_LOAD is set, which is the duration.
func TestServeBesidePeer(t *testing.T) {
	if os.Getenv("CELADON_LOAD") == "" {
		t.Skip("CELADON_LOAD is not set")
	}
	w := newWorkload(t)
	celadon, set := startSet(t)
	if err := set.Apply(w.crds, nil); err != nil {
		t.Fatal(err)
	}
	peer := newPeer(t, w)
	upstream := startServer(t, func(log *slog.Logger) *server {
		s := newServer(admission.NewSet(admission.Config{}), defaultConcurrency, log)
		s.validate = peer.decide
		return s
	})
	turn := loadTime(t) / 8
	for _, every := range []time.Duration{0, replaceEach} {
		var ours, theirs *loadResult
		for range 2 {
			ours = w.run(t, celadon, set.Put, every, turn)
			theirs = w.verdictOnly().run(t, upstream, peer.put, every, turn)
			t.Logf("CRDs replaced each %s\n  celadon  %s\n  upstream %s\n  ratios: throughput %.1f, p50 %.1f, p99 %.1f, CPU %.1f", every, ours, theirs,
				ours.perSecond()/theirs.perSecond(), ratio(theirs, ours, .5), ratio(theirs, ours, .99), theirs.cpuEach().Seconds()/ours.cpuEach().Seconds())
		}
	}
}

func newPeer(t testing.TB, w *workload) *peerSet {
	t.Helper()
	peer := &peerSet{}
	for _, crd := range w.crds {
		if err := peer.put(crd); err != nil {
			t.Fatal(err)
		}
	}
	return peer
}

func deciders(b *testing.B) (*workload, *admission.Set, map[string]decide) {
	w := newWorkload(b)
	set := admission.NewSet(admission.Config{})
	if err := set.Apply(w.crds, nil); err != nil {
		b.Fatal(err)
	}
	return w, set, map[string]decide{"celadon": set.Validate, "upstream": newPeer(b, w).decide}
}

func BenchmarkServe(b *testing.B) {
	w, set, peers := deciders(b)
	for name, decide := range peers {
		b.Run(name, func(b *testing.B) {
			s := newServer(set, defaultConcurrency, slog.New(slog.DiscardHandler))
			s.validate = decide
			handler := s.handler()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r := httptest.NewRequest(http.MethodPost, "/validate", strings.NewReader(w.items[i%len(w.items)].body))
				r.Header.Set("Content-Type", "application/json")
				rec := httptest.NewRecorder()
				if handler.ServeHTTP(rec, r); rec.Code != http.StatusOK {
					b.Fatal(rec.Code, rec.Body)
				}
			}
		})
	}
}

func BenchmarkDecide(b *testing.B) {
	w, _, peers := deciders(b)
	requests := make([]*admissionv1.AdmissionRequest, len(w.items))
	for i, item := range w.items {
		review, err := admission.DecodeReview([]byte(item.body))
		if err != nil {
			b.Fatal(err)
		}
		requests[i] = review.Request
	}
	for name, decide := range peers {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := decide(b.Context(), requests[i%len(requests)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ratio(a, b *loadResult, q float64) float64 {
	return a.latency.quantile(q).Seconds() / b.latency.quantile(q).Seconds()
}
