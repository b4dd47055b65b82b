package compare

import (
	"context"
	"errors"
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/search"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/crdcopy"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// How it works. The search for a witness of a change does not consider the other changes, so a witness can
// demonstrate several changes at once. It then does not show which of them rejects the object. Therefore, after
// all effects are known, each witness is checked against the requirements of the other breaking changes of its
// version. These are added as rules to the old CRD, by hybridOf, and that CRD validates the witness. If the
// witness violates any of them, another search treats them as rules that the object must satisfy. Changes that
// the result still demonstrates are listed in Witness.AlsoBreaks.

// A ChangeRef identifies another change of the same report.
type ChangeRef struct {
	Version string `json:"version,omitempty"`
	Path    string `json:"path"`
	Subject string `json:"what"`
	Old     string `json:"old"`
	New     string `json:"new"`
}

func (c *comparison) isolate() error {
	var groups [][]*change
	for _, ch := range c.changes {
		if ch.breaks == nil || ch.upgrade || !ch.Effect.Breaks() || ch.Rejected == nil {
			continue
		}
		i := slices.IndexFunc(groups, func(g []*change) bool { return g[0].Version == ch.Version && g[0].OldVersion == ch.OldVersion })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], ch)
	}
	for _, group := range groups {
		if len(group) < 2 {
			continue
		}
		if err := c.isolateGroup(group); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) isolateGroup(group []*change) error {
	m := c.newRun(len(group), crdcopy.Nodes(c.before.crd))
	defer c.addWork(m)
	all := c.requirementsOf(group, m)
	if all == nil {
		return nil
	}
	for _, ch := range group {
		if err := fatal(all.isolate(ch)); err != nil {
			return err
		}
	}
	return nil
}

// fatal returns err if the comparison must end because of it, and nil if only a question has no result.
func fatal(err error) error {
	var bug *engine.InternalError
	if errors.As(err, &bug) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// requirements are the new requirements that break objects of a version, as rules of the old CRD.
type requirements struct {
	*comparison
	work    *work.Meter
	changes []*change
	refs    []engine.RuleRef // of each change; the zero value if no rule expresses its requirement
	engine  *engine.Engine   // of the old CRD with all these rules
}

// The changes must be of one version. requirementsOf returns nil if the work budget is used up, or if the CRD cannot
// be compiled with the requirements.
func (c *comparison) requirementsOf(changes []*change, m *work.Meter) *requirements {
	r := &requirements{comparison: c, work: m, changes: changes, refs: make([]engine.RuleRef, len(changes))}
	s := changes[0].before
	for i, ch := range changes {
		if ch.breaks.values != nil {
			continue
		}
		if h := hybridOf(s, ch.breaks); h != nil {
			s, r.refs[i] = h.side(s), h.ref
		}
	}
	if m.Spend(s.size); m.Empty() {
		return nil
	}
	var err error
	if r.engine, err = engine.Compile(s.crd, engine.Config{KubeVersion: s.kubeVersion}); r.engine == nil {
		return nil
	}
	var broken *engine.CompileErrors
	errors.As(err, &broken)
	for i, ref := range r.refs {
		isRule := func(e *engine.CompileError) bool { return sameRule(e.RuleRef, ref) }
		if broken != nil && slices.ContainsFunc(broken.Errors, isRule) {
			r.refs[i] = engine.RuleRef{}
		}
	}
	return r
}

func (h *hybrid) side(of *side) *side {
	return &side{crd: h.crd, version: &h.crd.Spec.Versions[0], size: of.size, kubeVersion: of.kubeVersion}
}

func sameRule(a, b engine.RuleRef) bool {
	return a.Rule != "" && a.Path == b.Path && a.Index == b.Index
}

// isolate replaces the witness of ch if it finds one that demonstrates fewer other changes.
func (r *requirements) isolate(ch *change) error {
	a := r.newGoalSearch(ch.breaks, ch.before, ch.after, r.work)
	best := ch.Rejected
	also, err := r.alsoBroken(a, ch, best)
	if err != nil || len(also) == 0 {
		return err
	}
	found, err := r.search(a, ch)
	if err == nil && found != nil && (!ch.breaks.defaulted || found.losesValue()) {
		var fewer []*change
		if fewer, err = r.alsoBroken(a, ch, found); err == nil && len(fewer) < len(also) {
			best, also = found, fewer
		}
	}
	ch.Rejected = best
	for _, d := range also {
		best.AlsoBreaks = append(best.AlsoBreaks, ChangeRef{d.Version, d.Path, d.Subject, d.Old, d.New})
	}
	return err
}

func (w *Witness) request() engine.Request {
	req := (&search.Witness{Operation: w.Operation, Object: w.Object, Old: w.Old}).Request()
	req.FieldValidation = "Ignore"
	return req
}

func (r *requirements) alsoBroken(a *goalSearch, ch *change, w *Witness) (also []*change, err error) {
	r.work.Spend(countValues(w.Object) + countValues(w.Old))
	strict, err := r.engine.Validate(r.ctx, w.request())
	if err = undecidable(err); err != nil {
		return nil, err
	}
	after, err := a.validateOther(w.request())
	if err = undecidable(err); err != nil {
		return nil, err
	}
	for i, d := range r.changes {
		if d != ch && (strict != nil && r.rejects(i, strict) || after != nil && !after.Allowed && d.isCause(after.Causes)) {
			also = append(also, d)
		}
	}
	return also, nil
}

func (r *requirements) rejects(i int, res *engine.Result) bool {
	return slices.ContainsFunc(res.Causes, func(c engine.Cause) bool { return c.Rule != nil && sameRule(r.refs[i], *c.Rule) })
}

// isCause reports whether causes of the other side at or below the path of d are due to its requirement. It returns
// false for schema constraints that a rule expresses, and for goals about defaults.
func (d *change) isCause(causes []engine.Cause) bool {
	g := d.breaks
	if g.from == nil && g.values == nil || g.defaulted {
		return false
	}
	return g.explains(causes, g.at.steps, false)
}

func (r *requirements) search(a *goalSearch, ch *change) (*Witness, error) {
	s := ch.before
	for i, d := range r.changes {
		if d == ch || r.refs[i].Rule == "" {
			continue
		}
		if h := hybridOf(s, d.breaks); h != nil {
			s = h.side(s)
		}
	}
	h := hybridOf(s, ch.breaks)
	if h == nil {
		return nil, nil
	}
	q, err := a.compiled(h)
	var invalid *engine.CompileError
	switch {
	case errors.As(err, &invalid), r.work.Empty():
		return nil, nil
	case err != nil:
		return nil, err
	case a.values != nil:
		err = a.try(q, h)
	default:
		err = a.find(q, h.ref)
	}
	return a.witness, err
}

// countValues returns the number of values in v, which is about the work of validating it.
func countValues(v any) (n int) {
	for _, child := range valuediff.Children(v) {
		n += countValues(child)
	}
	return n + 1
}
