package search

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/work"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// A solver searches for the witness of a question. Its Search is the form of the CRD for which
// objects are generated and repaired.
type solver struct {
	*Search
	other    *Search // the form that must also validate the writes, or nil
	ctx      context.Context
	oracle   *oracle
	maker    *maker
	work     *work.Meter // of this question
	rule     *rule       // the target rule; nil: the whole CRD
	want     Want
	full     bool
	attempts int
	// differences, if not nil, are those at which the other form may reject. Such a rejection is then
	// the goal.
	differences *differences
	// second is the first candidate that has the outcome but also other causes. alsos counts such candidates, common
	// holds the complaint ids that all of them share, and since is the work that was done before the first.
	second *candidate
	alsos  int
	common map[string]bool
	since  int
	// wants holds the required strings of the current attempt, by handle.id.
	wants map[string]textWant
	stuck map[string]int
}

const maxRepairRounds = 24

// walks is the number of objects among which the steps of a search are divided. An object that uses
// many steps is often a dead end.
const walks = 8

const maxRepeats = 2

const fuel = 1500

// try starts objects until one of them leads to a result. It returns nil if the first n objects lead to no result.
func (h *solver) try(n int) (*Answer, error) {
	for ; h.attempts < n; h.attempts++ {
		if h.attempts == 1 && h.rule != nil && h.want != Accepted {
			if err := h.fillPool(); err != nil {
				return nil, err
			}
		}
		w, err := h.walk(h.start(h.attempts))
		if errors.Is(err, errSpent) {
			return h.giveUp()
		}
		if err != nil {
			return nil, err
		}
		if w != nil {
			return h.finish(w, true)
		}
	}
	return nil, nil
}

func (h *solver) giveUp() (*Answer, error) {
	if h.second != nil {
		return h.finish(h.second, false)
	}
	return &Answer{Status: Unknown, Searched: h.oracle.writes, Lists: h.oracle.lists, Limited: h.work.Empty(), Reason: h.work.Reason()}, nil
}

func (h *solver) finish(w *candidate, alone bool) (*Answer, error) {
	writes, lists := h.oracle.writes, h.oracle.lists
	end := h.shrink
	if h.full {
		end = h.grow
	}
	w, v, err := end(w, alone)
	if err != nil {
		return nil, err
	}
	found := &Witness{Operation: w.op, Object: w.obj, Old: w.old, Alone: alone, Result: v.result}
	if h.differences != nil {
		found.Result = v.byOther
	}
	return &Answer{Status: Found, Witness: found, Searched: writes, Lists: lists}, nil
}

// walk repairs w until it demonstrates the wanted outcome. It returns nil if that fails.
func (h *solver) walk(w *candidate) (*candidate, error) {
	h.wants, h.stuck = map[string]textWant{}, map[string]int{}
	h.aim(w)
	h.settle(w)
	seen := map[uint64]int{}
	enough := h.oracle.spent() + h.oracle.limit/walks
	for range maxRepairRounds {
		if h.oracle.spent() > enough {
			return nil, nil
		}
		if id := w.hash(); seen[id] >= maxRepeats {
			return nil, nil
		} else {
			seen[id]++
		}
		v, err := h.oracle.decide(w)
		if err != nil {
			return nil, err
		}
		if v.undecided {
			return nil, nil
		}
		alone, also := h.satisfied(w, v)
		if alone {
			return w, nil
		}
		if also && h.neverAlone(w, v) {
			return nil, errSpent
		}
		h.repair(w, v)
		h.settle(w)
		if h.aim(w) {
			h.settle(w)
		}
	}
	return nil, nil
}

// maxAlsos limits the candidates that have the outcome but also other causes. If all of them share a cause, maxShared
// and a fourth of the steps (1/maxSharedPart) limit them.
const (
	maxAlsos      = 250
	maxShared     = 100
	maxSharedPart = 4
)

// neverAlone records a candidate that has the outcome but also other causes. It reports whether so many candidates
// have other causes that all candidates probably have.
func (h *solver) neverAlone(w *candidate, v *verdict) bool {
	shared := map[string]bool{}
	for i := range v.complaints {
		c := &v.complaints[i]
		if id := c.id(); !h.targets(*c) && (h.second == nil || h.common[id]) {
			shared[id] = true
		}
	}
	if h.common = shared; h.second == nil {
		h.second, h.since = w.clone(), h.oracle.spent()
	}
	h.alsos++
	if len(shared) == 0 {
		return h.alsos >= maxAlsos
	}
	return h.alsos >= maxShared || h.oracle.spent()-h.since > h.oracle.limit/maxSharedPart
}

// settle prunes and defaults the objects, because rules see them in that form.
func (h *solver) settle(w *candidate) {
	if w.split && w.op == Create {
		delete(w.obj, "status")
	}
	for _, obj := range []map[string]any{w.obj, w.old} {
		if obj == nil {
			continue
		}
		pruning.Prune(obj, h.root.s, true) // rules over dyn(self) would read unknown fields
		h.defaults.Default(obj)
		if h.other != nil {
			pruning.Prune(obj, h.other.root.s, true)
		}
	}
}

// satisfied reports whether a verdict is the wanted one without another cause (alone), or with other causes that
// concern neither the old object nor the other form (also).
func (h *solver) satisfied(w *candidate, v *verdict) (alone, also bool) {
	alone, also, shown := h.suits(v)
	if (alone || also) && !shown && !h.showing(w) {
		return false, false
	}
	return alone, also
}

// suits is like satisfied, but judges only the verdict. shown is set if the candidate need not be
// examined with showing.
func (h *solver) suits(v *verdict) (alone, also, shown bool) {
	switch {
	case v.undecided:
		return false, false, false
	case h.differences != nil:
		return v.rejectedByOther(), false, true
	case h.want == Accepted:
		return v.accepted() && (h.rule == nil || v.runs(h.rule.ref)), false, true
	}
	if v.accepted() {
		return false, false, false
	}
	alone = true
	for _, c := range v.complaints {
		if c.old || c.other {
			return false, false, false
		}
		if !h.targets(c) {
			alone = false
		}
	}
	return alone, !alone && h.want == Rejected && slices.ContainsFunc(v.complaints, h.targets), false
}

func (h *solver) targets(c complaint) bool {
	switch {
	case h.differences != nil:
		return c.other && !c.old
	case c.old || c.other || h.want == Accepted:
		return false
	case c.cause.Rule == nil: // a schema violation, or the total cost of the rules
		return h.want == OverBudget && c.cause.Kind == engine.CauseOutOfBudget
	}
	return h.rule != nil && *c.cause.Rule == h.rule.ref
}

// showing reports whether the rule has the wanted outcome at some path, and does not fail at
// another path if a rejection is wanted.
func (h *solver) showing(w *candidate) (shown bool) {
	for _, in := range h.rule.instances(w, h.root, false) {
		switch out := h.rule.at(h.ctx, w, in, h.work); {
		case out == h.want:
			shown = true
		case out == Errs && h.want == Rejected:
			return false
		}
	}
	return shown
}

// aim steers w towards the goal, and reports whether it may have changed w.
func (h *solver) aim(w *candidate) bool {
	switch {
	case h.differences != nil:
		h.part(w)
		return true
	case h.rule == nil:
		return false
	}
	at := h.rule.instances(w, h.root, false)
	missing := len(at) == 0
	if missing {
		h.createPath(w)
		if at = h.rule.instances(w, h.root, false); len(at) == 0 {
			return true
		}
	}
	if h.want == Accepted || h.showing(w) {
		return missing
	}
	h.steer(w, h.rule, at[h.maker.rng.IntN(len(at))], h.want)
	return true
}

func (h *solver) steer(w *candidate, r *rule, in instance, want Want) {
	b := h.newAdjuster(w, r, in)
	root := r.program.parts.Root()
	switch want {
	case Rejected:
		b.truth(root, nil, false)
	case Errs:
		b.fail(root, nil)
	case OverBudget:
		b.inflate(root)
	}
}

func (h *solver) newAdjuster(w *candidate, r *rule, in instance) *adjuster {
	h.maker.left = maxValues
	return &adjuster{ctx: h.ctx, s: h.Search, oracle: h.oracle, m: h.maker, w: w, r: r, in: in, wants: h.wants, fuel: fuel}
}

func (h *solver) createPath(w *candidate) {
	for _, old := range []bool{true, false} {
		if w.root(old) != nil && (!old || h.rule.transition()) {
			h.reach(w, h.rule.steps, old)
		}
	}
}

func (h *solver) reach(w *candidate, steps []engine.Step, old bool) (objectPath, bool) {
	b := h.newAdjuster(w, h.rule, instance{})
	p := objectPath{old: old, node: h.root}
	for _, s := range steps {
		p = h.into(w, p, s)
		if !b.ensure(p) {
			return p, false
		}
		if old { // also in the new object, so that they correlate
			fresh := p
			if fresh.old = false; !hasPath(w, fresh) {
				v, _ := w.get(p)
				w.put(fresh, copied(v))
			}
		}
	}
	return p, true
}

func hasPath(w *candidate, p objectPath) bool {
	_, ok := w.get(p)
	return ok
}

func (h *solver) into(w *candidate, p objectPath, s engine.Step) objectPath {
	if !s.Any {
		return p.step(s)
	}
	v, _ := w.get(p)
	var existing []engine.Step
	for step := range valuediff.Children(v) {
		existing = append(existing, step)
	}
	if len(existing) > 0 {
		return p.step(existing[h.maker.rng.IntN(len(existing))])
	}
	if p.node.isList() {
		return p.item(0)
	}
	return p.field(mapKey(0))
}
