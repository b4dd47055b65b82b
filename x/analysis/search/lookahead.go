package search

import (
	"slices"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/engine"
)

// A lookahead predicts that a change of a shrinker's candidate fails. Most changes do, and the engine takes
// far longer for the whole write than is needed to check the changed value and the rules at its path. A nil
// lookahead predicts nothing.
type lookahead struct {
	*solver
	settled   *candidate  // the shrinker's candidate, as rules see it
	rejecters []*rejecter // the latest first
}

// A rejecter is a rule other than the target rule that rejected changed candidates.
type rejecter struct {
	*rule
	times int
}

// compileAfter is the number of rejections after which a rule is compiled to predict more.
const compileAfter = 4

// newLookahead returns nil if the outcome of a change cannot be predicted.
func (h *solver) newLookahead(w *candidate, alone bool) *lookahead {
	if !alone || h.want != Refused || h.rule == nil || h.other != nil || h.differences != nil {
		return nil
	}
	f := &lookahead{solver: h}
	f.follow(w.clone())
	return f
}

// follow makes w the candidate.
func (f *lookahead) follow(w *candidate) {
	if f != nil {
		f.settle(w)
		f.settled = w
	}
}

// learn counts the rules that rejected a write.
func (f *lookahead) learn(v *verdict) {
	if f == nil {
		return
	}
	for _, c := range v.complaints {
		if c.cause.Rule == nil || f.targets(c) {
			continue
		}
		if r := f.byRef[*c.cause.Rule]; r != nil {
			f.add(r)
		}
	}
}

func (f *lookahead) add(r *rule) {
	i := slices.IndexFunc(f.rejecters, func(have *rejecter) bool { return have.rule == r })
	if i < 0 {
		i = len(f.rejecters)
		f.rejecters = append(f.rejecters, &rejecter{rule: r})
	}
	latest := f.rejecters[i]
	latest.times++
	copy(f.rejecters[1:], f.rejecters[:i])
	f.rejecters[0] = latest
}

// failsSchema reports whether the schema n at a path rejects a string.
func (f *lookahead) failsSchema(path []engine.Step, n node, v any) bool {
	s, ok := v.(string)
	if f == nil || !ok || !f.settled.checksSchema(path) || n.s == nil || n.s.ValueValidation == nil {
		return false
	}
	bounds := n.s.ValueValidation
	length := int64(utf8.RuneCountInString(s))
	if bounds.MinLength != nil && length < *bounds.MinLength || bounds.MaxLength != nil && length > *bounds.MaxLength {
		return true
	}
	if bounds.Pattern == "" {
		return false
	}
	f.work.Spend(1 + len(s)/bytesPerUnit)
	re := f.maker.texts.regexp(bounds.Pattern)
	return re != nil && !re.MatchString(s)
}

// failsRules reports whether, after change is applied at p in the objects in ways, other rules reject the write,
// or the target rule does not.
func (f *lookahead) failsRules(p objectPath, ways []bool, change func(*candidate, objectPath) bool) bool {
	if f == nil || f.settled.shared(p) {
		return false
	}
	var undo []func()
	defer func() {
		for _, u := range undo {
			u()
		}
	}()
	for _, old := range ways {
		p.old = old
		u := f.settled.undo(p)
		if u == nil {
			return false
		}
		undo = append(undo, u)
		if !change(f.settled, p) || f.isDefaulted(p) {
			return false
		}
	}
	for _, old := range ways {
		if p.old = old; f.rulesFail(p) {
			return true
		}
	}
	return false
}

// isDefaulted reports whether a default would replace the changed value at p.
func (f *lookahead) isDefaulted(p objectPath) bool {
	v, ok := f.settled.get(p)
	if ok {
		return v == nil
	}
	at := f.root
	for _, s := range p.path {
		at = at.step(s)
	}
	return at.hasDefault()
}

// rulesFail reports whether a rule at the path p, or above, rejects the changed candidate, or the target
// rule no longer does.
func (f *lookahead) rulesFail(p objectPath) bool {
	several := slices.ContainsFunc(f.rule.steps, func(s engine.Step) bool { return s.Any }) // it may reject another item
	if !p.old && !several && f.rule.above(p.path) && f.outcomeAbove(f.rule, p) != refuses {
		return true
	}
	for _, r := range f.rejecters {
		if r.times < compileAfter && !r.compiled || !r.above(p.path) || r.compile(f.compilers) != nil {
			continue
		}
		if out := f.outcomeAbove(r.rule, p); out == refuses || out == errs {
			return true
		}
	}
	return false
}

// outcomeAbove returns the outcome of a rule at the path p or above it. It is passes if the rule does not run
// there, or if ratcheting ignores its outcome.
func (f *lookahead) outcomeAbove(r *rule, p objectPath) outcome {
	w := f.settled
	_, hasStatus := w.root(p.old)["status"]
	if p.old && (r.transition() || w.split && hasStatus) {
		return passes
	}
	in := instance{self: objectPath{old: p.old, path: p.path[:len(r.steps)], node: f.root}}
	self, ok := w.get(in.self)
	if !ok || self == nil {
		return passes
	}
	if !p.old && w.old != nil {
		if in.before, in.hasOld = w.correlate(in.self, f.root); in.hasOld && !r.usesOld() {
			before, _ := w.get(in.before)
			if equalJSON(self, before) {
				return passes
			}
		}
	}
	if r.transition() && !in.hasOld {
		return passes
	}
	return r.at(f.ctx, w, in, f.work)
}

// above reports whether path is at or below a path of the rule.
func (r *rule) above(path []engine.Step) bool {
	if len(r.steps) > len(path) {
		return false
	}
	for i, s := range r.steps {
		if !s.Any && s.Name != path[i].Name {
			return false
		}
	}
	return true
}

// undo returns a function that restores the value at p if only that value is changed. It is nil if p has no
// parent.
func (w *candidate) undo(p objectPath) func() {
	if len(p.path) == 0 || w.root(p.old) == nil {
		return nil
	}
	last := p.path[len(p.path)-1]
	up := objectPath{old: p.old, path: p.path[:len(p.path)-1]}
	parent, _ := w.get(up)
	switch parent := parent.(type) {
	case map[string]any:
		v, had := parent[key(last)]
		return func() {
			if delete(parent, key(last)); had {
				parent[key(last)] = v
			}
		}
	case []any:
		items := slices.Clone(parent)
		return func() { w.setList(up, items) }
	}
	return nil
}
