package mutation

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// runner tries mutants. It is not safe for concurrent use; each worker has its own.
type runner struct {
	cfg       Config
	rewriters map[*baseline]*engine.Rewriter
	analyzers map[target]*analysis.Analyzer // by suite and version
}

// tests are tests that a mutant can fail. problem is the reason why a test has no verdict, or "". The
// error is the context's or an internal error.
type tests struct {
	n   int
	run func(ctx context.Context, i int) (name string, passes bool, problem string, err error)
}

// try converts a panic to an internal error.
func (h *runner) try(ctx context.Context, m *Mutant) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	m.Status = NotCovered
	for _, t := range m.change.targets {
		tests, err := h.tests(m, t)
		if err != nil {
			m.Status, m.Reason = NotViable, firstLine(err)
			return nil
		}
		for i := range tests.n {
			m.Status = Survived
			name, passes, problem, err := tests.run(ctx, i)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", name, err)
			case problem != "":
				m.Status, m.Reason = TimedOut, name+": "+problem
				return nil
			case !passes:
				m.Status, m.KilledBy = Killed, name
				return nil
			}
		}
	}
	if m.Status == Survived && m.Policy == "" {
		return h.analyze(ctx, m)
	}
	return nil
}

func (h *runner) tests(m *Mutant, t target) (all tests, err error) {
	if t.policies != nil {
		return m.policyTests(t.policies)
	}
	hits := t.suite.ran[t.ref]
	if t.ref == nil || aboutChange(m) {
		hits = t.suite.reaching(t.version, m.Path)
	}
	if len(hits) == 0 {
		return tests{}, nil
	}
	changed, err := h.engine(m, t)
	return tests{len(hits), func(ctx context.Context, i int) (name string, passes bool, problem string, err error) {
		c := &t.suite.Cases[hits[i].index]
		w := &c.Writes[hits[i].write]
		res, err := changed.Validate(ctx, w.Request)
		var overwork *engine.WorkLimitError
		var bug *engine.InternalError
		switch {
		case ctx.Err() != nil:
			return c.Name, false, "", ctx.Err()
		case errors.As(err, &bug):
			return c.Name, false, "", err
		case errors.As(err, &overwork):
			return c.Name, false, overwork.Reason, nil
		case res != nil && res.Undecided != nil:
			return c.Name, false, res.Undecided.Reason, nil
		}
		return c.Name, w.Passes(res, err), "", nil
	}}, err
}

func (h *runner) engine(m *Mutant, t target) (*engine.Engine, error) {
	w := h.rewriters[t.suite]
	if w == nil {
		w = &engine.Rewriter{Engine: t.suite.Engine}
		h.rewriters[t.suite] = w
	}
	if t.ref != nil {
		return w.Rule(*t.ref, m.change.spec)
	}
	changed := schemaOf(m.apply(t.suite.CRD, t.version), t.version)
	return w.Schema(t.version, &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: changed})
}

func firstLine(err error) string {
	var compile *engine.CompileError
	if errors.As(err, &compile) {
		return compile.Summary()
	}
	return err.Error()
}

func (h *runner) analyzerOf(t target) *analysis.Analyzer {
	t.ref = nil
	a, known := h.analyzers[t]
	if !known {
		a, _ = analysis.New(t.suite.CRD, t.suite.Engine, t.version, analysis.Config{Steps: h.cfg.Steps})
		h.analyzers[t] = a
	}
	return a
}

func (h *runner) analyze(ctx context.Context, m *Mutant) error {
	t := m.change.targets[0]
	a := h.analyzerOf(t)
	if a == nil || m.Operator == opFieldPath {
		return nil
	}
	if t.ref != nil {
		instead := apiextensionsv1.ValidationRule{Rule: "true"}
		if m.change.spec != nil {
			instead = *m.change.spec
		}
		if proof := a.Equal(*t.ref, instead); proof != nil {
			m.Status, m.Reason = Equivalent, "proved by "+proof.String()
			return nil
		}
	}
	if h.cfg.Steps < 0 {
		return nil
	}
	return h.seek(ctx, m, t, a)
}

func (h *runner) seek(ctx context.Context, m *Mutant, t target, a *analysis.Analyzer) error {
	changed, err := h.engine(m, t)
	if err != nil {
		return err
	}
	original, mutant := a.Form(t.suite.Engine), a.Form(changed)
	if t.ref == nil { // the schema differs
		other, err := analysis.New(m.apply(t.suite.CRD, t.version), changed, t.version, analysis.Config{Steps: h.cfg.Steps})
		if err != nil {
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
