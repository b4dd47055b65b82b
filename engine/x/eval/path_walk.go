package eval

import (
	celtypes "github.com/google/cel-go/common/types"
)

// How it works: rules spend most of their time in these loops, so the code for the most common
// step, a field of an object, is inlined rather than shared. A null field of an object is absent; a
// null entry of a map is present.

// held returns the value of the path's variable, or nil if the path does not begin at a variable.
func (p *path) held(f *frame) any {
	switch p.root {
	case rootStart:
		return f.roots[p.slot].raw
	case slotStart:
		return f.slots[p.slot].raw
	}
	return nil
}

func (p *path) start(f *frame) (any, bool) {
	if p.root == operandStart {
		return p.raw(f)
	}
	v := p.held(f)
	if v != nil && p.rootType.matches(v, p.decl) {
		return v, true
	}
	return nil, p.startsNull(f, v)
}

func (p *path) startsNull(f *frame, v any) bool {
	switch {
	case v == nil && p.root == rootStart && f.roots[p.slot].bound != value:
		f.err = p.absent
		return false
	case v == nil && p.decl.Nullable:
		return true
	}
	if p.onError == nil || p.onError.tried(f) {
		f.failMismatch(v, p.decl)
	}
	return false
}

// tried charges for a step that is tried on an error. It returns false if the key is an error as well.
func (s *pathStep) tried(f *frame) bool {
	ok := true
	switch s.op {
	case dynKeyOp:
		_, ok = s.str(f)
	case dynIndexOp:
		_, ok = s.num(f)
	}
	f.charge(1)
	return ok
}

// walk charges each step. A list item that it returns may not fit its declaration. The most common path, a field of an
// object in a variable, has a fast path here.
func (p *path) walk(f *frame) (any, bool) {
	v := p.held(f)
	m, ok := v.(map[string]any)
	if !ok || p.rootType != goMap {
		if v, ok = p.start(f); !ok {
			return nil, false
		}
		return p.take(f, v, p.steps)
	}
	if len(p.steps) == 0 {
		return v, true
	}
	s := &p.steps[0]
	if s.op != fieldOp {
		return p.take(f, v, p.steps)
	}
	f.charge(1)
	if v = m[s.name]; v == nil {
		f.err = s.missing
		return nil, false
	}
	if !s.goType.matches(v, s.to) {
		f.failMismatch(v, s.to)
		return nil, false
	}
	if len(p.steps) == 1 {
		return v, true
	}
	return p.take(f, v, p.steps[1:])
}

func (p *path) take(f *frame, v any, steps []pathStep) (any, bool) {
	for i := range steps {
		s := &steps[i]
		var ok bool
		switch s.op {
		case fieldOp:
			f.charge(1)
			m, isMap := v.(map[string]any)
			if !isMap {
				s.failMissing(f, v, s.missing)
				return nil, false
			}
			v = m[s.name]
			if v == nil {
				f.err = s.missing
				return nil, false
			}
			if !s.goType.matches(v, s.to) {
				f.failMismatch(v, s.to)
				return nil, false
			}
		case keyOp, dynKeyOp:
			if v, ok = s.entry(f, v); !ok {
				return nil, false
			}
		default:
			items, isList := v.([]any)
			if !isList {
				s.noList(f, v)
				return nil, false
			}
			if v, ok = s.item(f, items); !ok {
				return nil, false
			}
		}
	}
	return v, true
}

func (s *pathStep) failMissing(f *frame, v any, missing *celtypes.Err) {
	if v == nil && s.from.Nullable {
		f.err = missing
		return
	}
	f.failMismatch(v, s.from)
}

func (s *pathStep) entry(f *frame, v any) (any, bool) {
	key, missing := s.name, s.missing
	if s.op == dynKeyOp {
		var ok bool
		key, ok = s.str(f)
		f.charge(1)
		if !ok {
			return nil, false
		}
	} else {
		f.charge(1)
	}
	m, ok := v.(map[string]any)
	var found any
	if ok {
		f.work(2 * len(key)) // to look it up, or to name it in an error
		found, ok = m[key]
		if ok && (found == nil && s.to.Nullable || s.goType.matches(found, s.to)) {
			return found, true
		}
		if ok {
			f.failMismatch(found, s.to)
			return nil, false
		}
	} else if v != nil || !s.from.Nullable {
		f.failMismatch(v, s.from)
		return nil, false
	}
	if missing == nil {
		missing = noSuchKey(celtypes.String(key))
	}
	f.err = missing
	return nil, false
}

func (s *pathStep) noList(f *frame, v any) {
	at, ok := s.at, true
	if s.op == dynIndexOp {
		at, ok = s.num(f)
	}
	f.charge(1)
	if ok {
		s.failMissing(f, v, noSuchKey(celtypes.Int(at)))
	}
}

func (s *pathStep) item(f *frame, items []any) (any, bool) {
	at := s.at
	if s.op == dynIndexOp {
		var ok bool
		at, ok = s.num(f)
		f.charge(1)
		if !ok {
			return nil, false
		}
	} else {
		f.charge(1)
	}
	if at >= 0 && at < int64(len(items)) {
		return items[at], true
	}
	if s.missing != nil {
		f.err = s.missing
	} else {
		f.err = outOfBounds(celtypes.Int(at))
	}
	return nil, false
}

func (p *path) has(last pathStep) testFunc {
	return func(f *frame) truth {
		v, ok := p.walk(f)
		if !ok {
			return bad
		}
		f.charge(1)
		m, ok := v.(map[string]any)
		if !ok {
			if v == nil && last.from.Nullable {
				return no
			}
			f.failMismatch(v, last.from)
			return bad
		}
		found, ok := m[last.name]
		switch {
		case !ok || found == nil && last.op == fieldOp:
			return no
		case found == nil && last.to.Nullable || f.matches(last.goType, found, last.to):
			return yes
		}
		f.failMismatch(found, last.to)
		return bad
	}
}
