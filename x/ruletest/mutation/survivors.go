package mutation

import (
	"context"
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

type analysisKey struct {
	suite   *baseline
	version string
}

// analyzerOf returns the Analyzer for the version of a target, or nil if it cannot be
// analyzed.
func (h *runner) analyzerOf(t target) *analysis.Analyzer {
	k := analysisKey{t.suite, t.version}
	a, known := h.analyzers[k]
	if !known {
		a = h.newAnalyzer(t.suite.CRD, t.suite.Engine, t.version)
		h.analyzers[k] = a
	}
	return a
}

func (h *runner) newAnalyzer(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, version string) *analysis.Analyzer {
	a, err := analysis.New(crd, e, version, analysis.Config{Steps: h.cfg.Steps})
	if err != nil {
		return nil
	}
	return a
}

// analyze tries to prove that a surviving mutant is equivalent to the original. Otherwise it
// searches for a write that distinguishes them.
func (h *runner) analyze(ctx context.Context, m *Mutant) error {
	t := m.change.targets[0]
	a := h.analyzerOf(t)
	if a == nil {
		return nil
	}
	if t.ref != nil && m.Operator != opFieldPath {
		instead := apiextensionsv1.ValidationRule{Rule: "true"}
		if m.change.spec != nil {
			instead = *m.change.spec
		}
		if proof := a.Equal(*t.ref, instead); proof != nil {
			m.Status, m.Reason = Equivalent, "proved by "+proof.String()
			return nil
		}
	}
	if h.cfg.Steps < 0 || m.Operator == opFieldPath {
		return nil
	}
	return h.seek(ctx, m, t, a)
}

// seek searches for a write that the original rejects and the mutant accepts, and then for the
// opposite.
func (h *runner) seek(ctx context.Context, m *Mutant, t target, a *analysis.Analyzer) error {
	changed, err := h.engine(m, t)
	if err != nil {
		return err
	}
	original, mutant := a.Form(t.suite.Engine), a.Form(changed)
	if t.ref == nil { // the schema differs
		other := h.newAnalyzer(m.change.apply(t.suite.CRD, t.version, m.Path, m.Index), changed, t.version)
		if other == nil {
			return nil
		}
		mutant = other.Form(changed)
	}
	for _, allowed := range []bool{false, true} {
		rejecting, admitting := original, mutant
		if allowed {
			rejecting, admitting = mutant, original
		}
		answer, err := rejecting.Rejection(ctx, admitting)
		var bug *engine.InternalError
		if errors.As(err, &bug) || ctx.Err() != nil {
			return err
		}
		if err == nil && answer.Status == search.Found {
			w := answer.Witness
			m.Test = &Test{Operation: w.Operation, Object: w.Object, Old: w.Old, Allowed: allowed}
			return nil
		}
	}
	return nil
}
