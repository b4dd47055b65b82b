package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/types"
)

// How it works: a step is charged when it is tried, and the attribute as a whole is charged once
// more before its value is checked. So a value that does not fit its declaration has been charged.
// Scalars that may be null, doubles, int-or-strings, and formats have no typed form and are boxed.

func (p *path) code(a *attribute, counted bool) *code {
	step := uint64(0)
	if counted {
		step = 1
	}
	c := p.typed(step)
	if len(a.qualifiers) == 0 && a.variable != nil {
		c.val = a.variable.counted(step)
	}
	return c
}

func (p *path) typed(step uint64) *code {
	d := p.last
	if p.canBeNull() && !walkable(d) {
		return p.boxedCode(step)
	}
	c := jsonCode(p.rawCode(step), d)
	switch d.Kind {
	case types.String:
		c.kind, c.str = stringKind, p.strCode(step)
	case types.Int:
		c.kind, c.num = intKind, p.numCode(step)
	case types.Bool:
		c.kind, c.test = boolKind, p.testCode(step)
	default:
		if !walkable(d) {
			return p.boxedCode(step)
		}
	}
	return c
}

func (p *path) failMismatch(f *frame, v any) {
	if p.itemAsKey() {
		f.err = errKeyIsError
		return
	}
	f.failMismatch(v, p.last)
}

func (p *path) itemAsKey() bool {
	n := len(p.steps)
	return p.key && n > 0 && (p.steps[n-1].op == indexOp || p.steps[n-1].op == dynIndexOp)
}

// canBeNull reports whether the value can be null. A null field is an absent field.
func (p *path) canBeNull() bool {
	if !p.last.Nullable {
		return false
	}
	n := len(p.steps)
	return n == 0 || p.steps[n-1].op != fieldOp
}

func (p *path) boxedCode(step uint64) *code {
	d := p.last
	return boxedCode(asValue, func(f *frame) ref.Val {
		v, ok := p.walk(f)
		f.charge(step)
		if !ok {
			return f.err
		}
		f.parsed(v)
		val := celvalue.New(v, d)
		if celtypes.IsError(val) && p.itemAsKey() {
			return errKeyIsError
		}
		return val
	})
}

func (p *path) rawCode(step uint64) rawFunc {
	d, k, null := p.last, goTypeOf(p.last), p.canBeNull()
	return func(f *frame) (any, bool) {
		v, ok := p.walk(f)
		f.charge(step)
		if !ok {
			return nil, false
		}
		if k.matches(v, d) || v == nil && null {
			return v, true
		}
		p.failMismatch(f, v)
		return nil, false
	}
}

func (p *path) strCode(step uint64) strFunc {
	return func(f *frame) (string, bool) {
		v, ok := p.walk(f)
		f.charge(step)
		if !ok {
			return "", false
		}
		s, ok := v.(string)
		if !ok {
			p.failMismatch(f, v)
		}
		return s, ok
	}
}

func (p *path) numCode(step uint64) intFunc {
	return func(f *frame) (int64, bool) {
		v, ok := p.walk(f)
		f.charge(step)
		if !ok {
			return 0, false
		}
		n, ok := v.(int64)
		if !ok {
			p.failMismatch(f, v)
		}
		return n, ok
	}
}

func (p *path) testCode(step uint64) testFunc {
	return func(f *frame) truth {
		v, ok := p.walk(f)
		f.charge(step)
		if !ok {
			return bad
		}
		b, ok := v.(bool)
		if !ok {
			p.failMismatch(f, v)
			return bad
		}
		return truthOf(b)
	}
}
