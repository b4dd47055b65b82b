package mutation

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis"
)

// runner tries mutants. It is not safe for concurrent use; each worker has its own.
type runner struct {
	cfg       Config
	rewriters map[*baseline]*engine.Rewriter
	analyzers map[analysisKey]*analysis.Analyzer
}

func newRunner(cfg Config) *runner {
	return &runner{cfg: cfg, rewriters: map[*baseline]*engine.Rewriter{}, analyzers: map[analysisKey]*analysis.Analyzer{}}
}

// try determines the status of a mutant.
func (h *runner) try(ctx context.Context, m *Mutant) error {
	if m.policies != nil {
		return m.tryPolicy(ctx)
	}
	m.Status = NotCovered
	for _, t := range m.change.targets {
		hits := t.hits(m)
		if len(hits) == 0 {
			continue
		}
		changed, err := h.engine(m, t)
		if err != nil {
			m.Status, m.Reason = NotViable, firstLine(err)
			return nil
		}
		m.Status = Survived
		if err := m.run(ctx, t.suite, changed, hits); err != nil || m.Status != Survived {
			return err
		}
	}
	if m.Status == Survived {
		return h.analyze(ctx, m)
	}
	return nil
}

// tried calls try and converts a panic to an internal error.
func (h *runner) tried(ctx context.Context, m *Mutant) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	return h.try(ctx, m)
}

// hits returns the writes whose result the mutant can change.
func (t *target) hits(m *Mutant) []hit {
	switch {
	case t.ref == nil:
		return t.suite.reached[t.version][m.Path]
	case aboutChange(m):
		return t.suite.reached[t.version][m.Path]
	}
	return t.suite.ran[t.ref]
}

// engine returns the target's engine with the mutant applied.
func (h *runner) engine(m *Mutant, t target) (*engine.Engine, error) {
	w := h.rewriters[t.suite]
	if w == nil {
		w = &engine.Rewriter{Engine: t.suite.Engine}
		h.rewriters[t.suite] = w
	}
	if t.ref != nil {
		return w.Rule(*t.ref, m.change.spec)
	}
	crd := m.change.apply(t.suite.CRD, t.version, m.Path, m.Index)
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Name == t.version {
			return w.Schema(t.version, v.Schema)
		}
	}
	return nil, fmt.Errorf("version %q: no such version", t.version)
}

// run repeats writes on the mutant until a case fails.
func (m *Mutant) run(ctx context.Context, s *baseline, changed *engine.Engine, hits []hit) error {
	for _, at := range hits {
		c := &s.Cases[at.index]
		w := &c.Writes[at.write]
		res, err := changed.Validate(ctx, w.Request)
		var overwork *engine.WorkLimitError
		var bug *engine.InternalError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &bug):
			return err
		case errors.As(err, &overwork):
			m.Status, m.Reason = TimedOut, c.Name+": "+overwork.Reason
			return nil
		case res != nil && res.Undecided != nil:
			m.Status, m.Reason = TimedOut, c.Name+": "+res.Undecided.Reason
			return nil
		case !w.Passes(res, err):
			m.Status, m.KilledBy = Killed, c.Name
			return nil
		}
	}
	return nil
}

// firstLine returns the error in a changed rule without its excerpt.
func firstLine(err error) string {
	var compile *engine.CompileError
	if errors.As(err, &compile) {
		return compile.Summary()
	}
	return err.Error()
}
