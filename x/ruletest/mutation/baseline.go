package mutation

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
)

// baseline is a suite with the results of its cases on the original CRD.
type baseline struct {
	*Suite
	// failing holds the cases that fail without a mutant. They are ignored.
	failing map[int]bool
	// ran holds, by rule, the writes in which the rule ran.
	ran map[*engine.RuleRef][]hit
	// reached holds the writes by version and path.
	reached map[string]map[string][]hit
}

// hit is a write of a case.
type hit struct {
	index, write int
	// rejected is set if the rule failed in the write. Such writes are likely to kill mutants.
	rejected bool
}

func newBaseline(ctx context.Context, s *Suite) (*baseline, error) {
	b := &baseline{Suite: s, failing: map[int]bool{}, ran: map[*engine.RuleRef][]hit{}, reached: map[string]map[string][]hit{}}
	for i := range s.Cases {
		for n := range s.Cases[i].Writes {
			if err := b.write(ctx, i, n); err != nil {
				return nil, err
			}
		}
	}
	for ref, hits := range b.ran {
		b.ran[ref] = b.passingWrites(hits)
	}
	for _, at := range b.reached {
		for path, hits := range at {
			at[path] = b.passingWrites(hits)
		}
	}
	return b, nil
}

// passingWrites returns the writes of passing cases, starting with those in which the rule failed.
func (b *baseline) passingWrites(hits []hit) []hit {
	hits = slices.DeleteFunc(hits, func(h hit) bool { return b.failing[h.index] })
	slices.SortStableFunc(hits, func(x, y hit) int {
		switch {
		case x.rejected == y.rejected:
			return 0
		case x.rejected:
			return -1
		}
		return 1
	})
	return hits
}

// write does a write and records the rules and paths that it reaches.
func (b *baseline) write(ctx context.Context, index, n int) error {
	w := &b.Cases[index].Writes[n]
	req := w.Request
	at := map[*engine.RuleRef]int{}
	req.Observe = func(run engine.RuleRun) {
		i, known := at[run.Rule]
		if !known {
			i = len(b.ran[run.Rule])
			at[run.Rule] = i
			b.ran[run.Rule] = append(b.ran[run.Rule], hit{index: index, write: n})
		}
		if run.Outcome != engine.Passed {
			b.ran[run.Rule][i].rejected = true
		}
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
		b.recordPaths(version, object, hit{index: index, write: n})
	}
	return nil
}

func (b *baseline) recordPaths(version string, object map[string]any, h hit) {
	if b.reached[version] == nil {
		b.reached[version] = map[string][]hit{}
	}
	reached := b.reached[version]
	schema := schemaOf(b.CRD, version)
	var visit func(s *schemaProps, v any, steps []engine.Step)
	visit = func(s *schemaProps, v any, steps []engine.Step) {
		if s == nil {
			return
		}
		path := engine.FormatPath(steps)
		if hits := reached[path]; len(hits) == 0 || hits[len(hits)-1] != h {
			reached[path] = append(hits, h)
		}
		switch v := v.(type) {
		case map[string]any:
			for name, sub := range v {
				if prop, ok := s.Properties[name]; ok {
					visit(&prop, sub, append(slices.Clip(steps), engine.Step{Name: name}))
				} else if s.AdditionalProperties != nil {
					visit(s.AdditionalProperties.Schema, sub, append(slices.Clip(steps), engine.Step{Any: true}))
				}
			}
		case []any:
			for _, item := range v {
				if s.Items != nil {
					visit(s.Items.Schema, item, append(slices.Clip(steps), engine.Step{Any: true}))
				}
			}
		}
	}
	visit(schema, object, nil)
}

func schemaOf(crd *apiextensionsv1.CustomResourceDefinition, version string) *schemaProps {
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Name == version && v.Schema != nil {
			return v.Schema.OpenAPIV3Schema
		}
	}
	return nil
}
