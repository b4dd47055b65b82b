package mutation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

type baseline struct {
	*Suite
	// failing holds the cases that fail without a mutant. They are ignored.
	failing map[int]bool
	// ran holds, by rule, the writes of passing cases in which the rule ran, in the order of their ranks.
	ran    map[*engine.RuleRef][]hit
	writes []write
}

// write is a write of a case whose object has a version of the CRD.
type write struct {
	hit
	version string
	object  map[string]any
}

type hit struct {
	index, write int
	// rank is 0 if the rule did not pass in the write, because such writes are likely to kill mutants, and 1 otherwise.
	rank int
}

func newBaseline(ctx context.Context, s *Suite) (*baseline, error) {
	b := &baseline{Suite: s, failing: map[int]bool{}, ran: map[*engine.RuleRef][]hit{}}
	for i := range s.Cases {
		for n := range s.Cases[i].Writes {
			if err := b.write(ctx, i, n); err != nil {
				return nil, err
			}
		}
	}
	for ref, hits := range b.ran {
		hits = slices.DeleteFunc(hits, func(h hit) bool { return b.failing[h.index] })
		slices.SortStableFunc(hits, func(x, y hit) int { return cmp.Compare(x.rank, y.rank) })
		b.ran[ref] = hits
	}
	return b, nil
}

func (b *baseline) write(ctx context.Context, index, n int) error {
	w := &b.Cases[index].Writes[n]
	req := w.Request
	req.Observe = func(run engine.RuleRun) {
		hits := b.ran[run.Rule]
		if i := len(hits) - 1; i < 0 || hits[i].index != index || hits[i].write != n {
			hits = append(hits, hit{index, n, 1})
		}
		if run.Outcome != engine.Passed {
			hits[len(hits)-1].rank = 0
		}
		b.ran[run.Rule] = hits
	}
	res, err := b.Engine.Validate(ctx, req)
	if ctx.Err() != nil {
		return fmt.Errorf("mutation of %s: %w", b.CRD.Name, ctx.Err())
	}
	if !w.Passes(res, err) {
		b.failing[index] = true
		return nil
	}
	object := req.Object
	if object == nil {
		object, _ = engine.Decode(req.Raw)
	}
	if version, err := b.Engine.VersionOf(object); err == nil {
		b.writes = append(b.writes, write{hit{index, n, 1}, version, object})
	}
	return nil
}

func (b *baseline) reaching(version, path string) (hits []hit) {
	steps, err := engine.ParsePath(path)
	for _, w := range b.writes {
		if err == nil && w.version == version && !b.failing[w.index] && reaches(w.object, steps) {
			hits = append(hits, w.hit)
		}
	}
	return hits
}

func reaches(v any, steps []engine.Step) bool {
	if len(steps) == 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if (steps[0].Any || steps[0].Name == name) && reaches(below, steps[1:]) {
				return true
			}
		}
	case []any:
		return steps[0].Any && slices.ContainsFunc(v, func(item any) bool { return reaches(item, steps[1:]) })
	}
	return false
}

func schemaOf(crd *apiextensionsv1.CustomResourceDefinition, version string) *schemaProps {
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Name == version && v.Schema != nil {
			return v.Schema.OpenAPIV3Schema
		}
	}
	return nil
}
