package mutation

import (
	"context"
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// analysis holds the prover and the search for a version of a suite's CRD.
type analysis struct {
	prover *prove.Prover  // nil if the version cannot be analyzed
	search *search.Search // nil if it cannot be searched
}

type analysisKey struct {
	suite   *baseline
	version string
}

func (h *runner) analysisOf(t target) *analysis {
	k := analysisKey{t.suite, t.version}
	if known := h.analyses[k]; known != nil {
		return known
	}
	j := &analysis{}
	h.analyses[k] = j
	for i := range t.suite.CRD.Spec.Versions {
		if v := &t.suite.CRD.Spec.Versions[i]; v.Name == t.version {
			j.prover, _ = prove.New(v, prove.Config{KubeVersion: t.suite.Engine.KubeVersion()})
		}
	}
	j.search, _ = search.New(t.suite.CRD, t.suite.Engine, t.version, search.Config{Steps: h.cfg.Steps})
	return j
}

// analyze tries to prove that a surviving mutant is equivalent to the original. Otherwise it
// searches for a write that distinguishes them.
func (h *runner) analyze(ctx context.Context, m *Mutant) error {
	t := m.change.targets[0]
	j := h.analysisOf(t)
	if t.ref != nil && m.Operator != opFieldPath && j.prover != nil {
		instead := apiextensionsv1.ValidationRule{Rule: "true"}
		if m.change.spec != nil {
			instead = *m.change.spec
		}
		if proof, err := j.prover.Equal(*t.ref, instead); err == nil && proof != nil {
			m.Status, m.Reason = Equivalent, "proved by "+proof.String()
			return nil
		}
	}
	if h.cfg.Steps < 0 || m.Operator == opFieldPath {
		return nil
	}
	return h.seek(ctx, m, t, j)
}

// seek searches for a write that the original rejects and the mutant accepts, and then for the
// opposite.
func (h *runner) seek(ctx context.Context, m *Mutant, t target, j *analysis) error {
	changed, err := h.engine(m, t)
	if err != nil || j.search == nil {
		return err
	}
	mutant := j.search
	if t.ref == nil {
		crd := m.change.apply(t.suite.CRD, t.version, m.Path, m.Index)
		if mutant, err = search.New(crd, changed, t.version, search.Config{Steps: h.cfg.Steps}); err != nil {
			return nil // it cannot be searched
		}
	}
	for _, allowed := range []bool{false, true} {
		original := func(beside *search.Search) *search.Search { return j.search.Form(t.suite.Engine, beside) }
		other := func(beside *search.Search) *search.Search { return mutant.Form(changed, beside) }
		refusing := original(other(nil))
		if allowed {
			refusing = other(original(nil))
		}
		answer, err := refusing.Refusal(ctx)
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
