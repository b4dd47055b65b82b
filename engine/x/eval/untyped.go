package eval

import (
	"slices"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
)

// How it works: admission policies see objects without a schema, so their fields have type dyn. A path
// into such an object returns the decoded JSON, and the code of a comparison or a macro (untyped_call.go,
// loop.go) uses it as a Go value if it is a string, an int, a list, or a map. Nothing is boxed then. Any
// other value is boxed and takes the general way, with the same result and cost.

// A jsonFunc returns a value without a declaration: as decoded JSON if boxed is nil, and else as a
// ref.Val, which may be an error.
type jsonFunc = func(*frame) (v any, boxed ref.Val)

// box returns the result of a jsonFunc as a ref.Val.
func box(v any, boxed ref.Val) ref.Val {
	if boxed != nil {
		return boxed
	}
	return celvalue.Untyped(v)
}

// untyped returns a function that evaluates c to decoded JSON where it can, or nil if c always has
// another form.
func (c *code) untyped() jsonFunc {
	if c.json != nil {
		return c.json
	}
	var v any
	switch k := c.constant.(type) {
	case celtypes.String:
		v = string(k)
	case celtypes.Int:
		v = int64(k)
	default:
		return nil
	}
	return func(*frame) (any, ref.Val) { return v, nil }
}

// An untypedPath is an attribute whose variable has no declaration.
type untypedPath struct {
	variable valFunc
	slot     int // of an item of a loop; -1 for other variables
	steps    []boxedStep
	take     stepFunc
	unwrap   func(*celtypes.Optional) ref.Val
	has      bool
	counted  bool
}

// untypedCode returns the code of an attribute whose variable has no declaration, and nil for other
// attributes.
func (m *semantics) untypedCode(a *attribute, counted bool) *code {
	v := a.variable
	if v == nil || v.decl != nil || v.optional || a.key {
		return nil
	}
	if slices.ContainsFunc(a.qualifiers, func(q qualifier) bool { return q.field }) {
		return nil
	}
	u := &untypedPath{variable: v.boxed(), slot: -1, has: a.has, counted: counted}
	u.steps, u.take, u.unwrap = boxedSteps(a.qualifiers), m.stepsFrom(v), m.unwrap()
	if v.form == itemForm {
		u.slot = v.slot
	}
	step := uint64(0)
	if counted {
		step = 1
	}
	c := boxedCode(asPath, func(f *frame) ref.Val { return box(u.json(f)) })
	if len(u.steps) == 0 {
		c.val = v.counted(step)
	}
	c.json = u.json
	return c
}

// json evaluates the path. Its steps cost 1 each, and the path as a whole costs 1.
func (u *untypedPath) json(f *frame) (any, ref.Val) {
	steps := u.steps
	if u.slot >= 0 {
		if s := &f.slots[u.slot]; s.val == nil {
			return u.walk(f, s.raw, nil, steps)
		}
	}
	v := u.variable(f)
	m, ok := v.(*celvalue.UntypedMap)
	if !ok && len(steps) > 0 {
		var found bool
		if v, found = u.take(f, v, steps[:1], u.unwrap); !found {
			return u.end(f, v)
		}
		steps = steps[1:]
		m, ok = v.(*celvalue.UntypedMap)
	}
	if !ok {
		if len(steps) > 0 {
			v, _ = takeSteps(f, v, steps, u.unwrap)
		}
		return u.end(f, v)
	}
	return u.walk(f, m.Fields, m, steps)
}

// walk takes steps from decoded JSON. If of is not nil, v is in of.
func (u *untypedPath) walk(f *frame, v any, of *celvalue.UntypedMap, steps []boxedStep) (any, ref.Val) {
	for i := range steps {
		s := &steps[i]
		switch s.op {
		case nameStep, testStep:
			fields, ok := v.(map[string]any)
			if !ok {
				return u.rest(f, v, of, steps[i:])
			}
			f.work(2 * len(s.name)) // to look it up, or to name it in an error
			v, ok = fields[s.name]
			f.charge(1)
			switch {
			case s.op == testStep:
				v = ok
			case !ok:
				return u.end(f, s.missing)
			}
		case indexStep:
			items, ok := v.([]any)
			if !ok || s.at < 0 || s.at >= int64(len(items)) {
				return u.rest(f, v, of, steps[i:])
			}
			f.charge(1)
			v, of = items[s.at], nil
		default:
			return u.rest(f, v, of, steps[i:])
		}
	}
	if u.counted && !u.has {
		f.charge(1)
	}
	if of == nil {
		return v, nil
	}
	return of.Decoded(v)
}

// rest takes the steps that depend on the value.
func (u *untypedPath) rest(f *frame, v any, of *celvalue.UntypedMap, steps []boxedStep) (any, ref.Val) {
	val := celvalue.Untyped(v)
	if of != nil {
		val = of.Of(v)
	}
	val, _ = takeSteps(f, val, steps, u.unwrap)
	return u.end(f, val)
}

// end returns the value of the path.
func (u *untypedPath) end(f *frame, v ref.Val) (any, ref.Val) {
	if u.counted {
		v = attributeValue(f, v, u.has)
	}
	return nil, v
}

// truthOfJSON evaluates a value without a declaration as a condition.
func truthOfJSON(json jsonFunc) testFunc {
	return func(f *frame) truth {
		v, boxed := json(f)
		if boxed != nil {
			return f.truth(boxed)
		}
		if b, ok := v.(bool); ok {
			return truthOf(b)
		}
		f.err = errNoOverload
		return bad
	}
}
