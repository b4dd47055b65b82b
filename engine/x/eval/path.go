package eval

import (
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/types"
)

// How it works: the checker and the schema know each step of self.spec.a. So the planner resolves
// once which field a step reads, whether it may be null, and its declaration. At run time, a path
// is a loop of map lookups (path_walk.go), and its value has the form of its declaration
// (path_value.go). An attribute with an undeclared step, for example below dyn, is not a path: it
// is looked up on ref.Vals from its root (path_boxed.go).

type path struct {
	root     pathStart
	slot     int
	absent   *celtypes.Err // for rootStart
	raw      rawFunc       // for operandStart
	decl     *types.Decl   // of the root
	steps    []pathStep
	last     *types.Decl // of the value
	rootType goType
	key      bool // the value is used as an index
	// onError is the first step if it is tried although the root is an error, else nil.
	onError *pathStep
}

type pathStart uint8

const (
	rootStart pathStart = iota // the activation's root number slot
	slotStart
	operandStart
)

type pathStep struct {
	op   pathOp
	name string // of a field, or the constant key
	at   int64  // the constant index
	str  strFunc
	num  intFunc
	// from describes the value before the step, and to the value after it.
	from, to *types.Decl
	goType   goType
	missing  *celtypes.Err // for fields, constant keys, and constant indexes
}

type pathOp uint8

const (
	fieldOp pathOp = iota
	keyOp
	dynKeyOp
	indexOp
	dynIndexOp
)

// typedPath returns nil if the attribute is not a path.
func (pl *planner) typedPath(a *attribute, counted bool) *code {
	p := &path{key: a.key, steps: make([]pathStep, 0, len(a.qualifiers))}
	if !p.from(a) {
		return nil
	}
	d := p.decl
	steps := a.qualifiers
	if a.has {
		steps = steps[:len(steps)-1]
	}
	for _, q := range steps {
		if q.optional || !p.step(pl, q, d) {
			return nil
		}
		d = p.steps[len(p.steps)-1].to
	}
	p.last, p.rootType = d, goAny
	if len(a.qualifiers) > 0 && p.decl != nil {
		p.rootType = goTypeOf(p.decl)
	}
	if !a.has {
		if n := len(p.steps); n > 0 {
			p.steps[n-1].goType = goAny // checked by the code of the value
		}
		p.tryOnError(pl, a, p.steps)
		return p.code(a, counted)
	}
	if !isObject(d) && !isMap(d) || !p.step(pl, a.qualifiers[len(steps)], d) {
		return nil
	}
	p.tryOnError(pl, a, p.steps)
	last := p.steps[len(steps)]
	p.steps = p.steps[:len(steps)]
	return boolCode(p.has(last))
}

func (p *path) from(a *attribute) bool {
	if a.operand != nil {
		p.root, p.decl, p.raw = operandStart, a.operand.decl, a.operand.raw
		return a.operand.kind == rawKind
	}
	p.decl = a.variable.decl
	switch a.variable.form {
	case rootForm:
		p.root, p.slot, p.absent = rootStart, a.variable.slot, a.variable.absent
		if a.variable.optional || p.decl == nil {
			return false
		}
	case rawForm:
		p.root, p.slot = slotStart, a.variable.slot
	default:
		return false
	}
	return p.decl.Kind != types.Hidden && (walkable(p.decl) || len(a.qualifiers) == 0)
}

func (p *path) tryOnError(pl *planner, a *attribute, steps []pathStep) {
	if a.variable != nil && len(steps) > 0 && pl.semantics.has[errorSteps] {
		p.onError = &steps[0]
	}
}

func (p *path) step(pl *planner, q qualifier, d *types.Decl) bool {
	s := pathStep{from: d}
	switch {
	case isObject(d):
		ident, ok := q.key.constant.(celtypes.String)
		if !ok {
			return false
		}
		name, ok := types.Unescape(string(ident))
		if !ok {
			return false
		}
		f := d.Fields[name]
		if f == nil || f.Decl.Kind == types.Hidden {
			return false
		}
		s.op, s.name, s.to, s.missing = fieldOp, name, f.Decl, pl.noSuchKey(ident)
	case isMap(d):
		s.to = d.Elem
		if key, ok := q.key.constant.(celtypes.String); ok {
			s.op, s.name, s.missing = keyOp, string(key), pl.noSuchKey(key)
		} else if s.op, s.str = dynKeyOp, q.key.strings(); s.str == nil {
			return false
		}
	case isList(d):
		s.op, s.to = indexOp, d.Elem
		return p.indexStep(s, q)
	default:
		return false
	}
	return p.add(s)
}

func (p *path) indexStep(s pathStep, q qualifier) bool {
	if i, ok := q.key.constant.(celtypes.Int); ok {
		s.at, s.missing = int64(i), outOfBounds(i)
	} else if s.op, s.num = dynIndexOp, q.key.ints(); s.num == nil {
		return false
	}
	return p.add(s)
}

func (p *path) add(s pathStep) bool {
	if s.to == nil || s.to.Kind == types.Hidden {
		return false
	}
	s.goType = goTypeOf(s.to)
	p.steps = append(p.steps, s)
	return true
}
