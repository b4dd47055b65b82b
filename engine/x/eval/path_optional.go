package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/types"
)

// How it works: the steps before the first ? fail as usual. From there on, an absent value makes
// the whole path an empty optional, and only steps that found a value are charged. A value that
// does not fit its declaration is an error there as well.

// An optFunc returns the value of an optional: yes with a value, no if the optional is empty, or
// bad.
type optFunc = func(*frame) (any, truth)

// optionalPath returns the code of an attribute that contains `?` and whose steps are all declared.
// It returns nil for any other attribute.
func (pl *planner) optionalPath(a *attribute, counted bool) *code {
	p := &path{steps: make([]pathStep, 0, len(a.qualifiers))}
	if a.has || a.operand != nil || !p.from(a) {
		return nil
	}
	d, first := p.decl, -1
	for i, q := range a.qualifiers {
		if q.optional && first < 0 {
			first = i
		}
		if !p.step(pl, q, d) {
			return nil
		}
		d = p.steps[i].to
	}
	if first < 0 {
		return nil
	}
	p.last, p.rootType = d, goTypeOf(p.decl)
	step := uint64(0)
	if counted {
		step = 1
	}
	sure, maybe := p.steps[:first], p.steps[first:]
	p.tryOnError(pl, a, sure)
	opt := func(f *frame) (any, truth) {
		v, ok := p.start(f)
		if ok {
			v, ok = p.take(f, v, sure)
		}
		if !ok {
			f.charge(step)
			return nil, bad
		}
		v, t := findOptional(f, v, maybe)
		f.charge(step)
		return v, t
	}
	return &code{kind: optionalKind, opt: opt, decl: d, val: boxOptional(opt, d), null: p.canBeNull()}
}

func boxOptional(opt optFunc, d *types.Decl) valFunc {
	return func(f *frame) ref.Val {
		switch v, t := opt(f); t {
		case yes:
			return celtypes.OptionalOf(celvalue.New(v, d))
		case no:
			return celtypes.OptionalNone
		}
		return f.err
	}
}

// findOptional takes the steps until a step finds nothing or fails.
func findOptional(f *frame, v any, steps []pathStep) (any, truth) {
	for i := range steps {
		var t truth
		if v, t = steps[i].find(f, v); t == bad {
			f.chargeFailure()
		}
		if t != yes {
			return nil, t
		}
		f.charge(1)
	}
	return v, yes
}

// find takes a step and does not charge for it.
func (s *pathStep) find(f *frame, v any) (any, truth) {
	key, at := s.name, s.at
	ok := true
	switch s.op {
	case dynKeyOp:
		key, ok = s.str(f)
	case dynIndexOp:
		at, ok = s.num(f)
	}
	if !ok {
		return nil, bad
	}
	if v == nil && s.from.Nullable {
		return nil, no
	}
	if s.op == indexOp || s.op == dynIndexOp {
		items, ok := v.([]any)
		switch {
		case !ok:
			f.failMismatch(v, s.from)
			return nil, bad
		case at < 0 || at >= int64(len(items)):
			return nil, no
		}
		return items[at], yes
	}
	m, ok := v.(map[string]any)
	if !ok {
		f.failMismatch(v, s.from)
		return nil, bad
	}
	found, ok := m[key]
	switch {
	case !ok || found == nil && s.op == fieldOp:
		return nil, no
	case found == nil && s.to.Nullable || s.goType.matches(found, s.to):
		return found, yes
	}
	f.failMismatch(found, s.to)
	return nil, bad
}
