package eval

import (
	"cmp"
	"slices"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
)

// How it works: the parser expands every macro into a fold: a range, an accumulator, a condition,
// and a step. Folds that macro.go does not plan run in that form, on boxed values, for example
// transformMap, macros with two variables over a range that is not planned as JSON, and macros whose
// body reads the accumulator. Lists and
// maps in which the fold collects are changed in place, as in cel-go, because otherwise each step
// would copy them.
//
// cel-go iterates over a map in Go's random order. Here maps are iterated in the order of their
// keys, so that the same object always gets the same result.

func (p *planner) comprehension(e ast.Expr) (*code, error) {
	slots := p.slots
	c, err := p.macro(e)
	if c != nil && err == nil {
		return c, nil
	}
	if err != nil && err != errReadsResult {
		return nil, err
	}
	p.slots = slots
	return p.fold(e)
}

// A fold is a comprehension on ref.Vals. Unless the version has eagerAccumulators, the initial value
// of the accumulator is computed on demand, which is how the cel.bind macro evaluates its variable.
type fold struct {
	overRange, cond, step, result valFunc
	accu, key, item               int
	two                           bool
	emptyRanges                   bool
	// init is nil if the initial value is computed on demand.
	init     valFunc
	badRange *celtypes.Err
}

func (p *planner) fold(e ast.Expr) (*code, error) {
	x := e.AsComprehension()
	overRange, err := p.plan(x.IterRange())
	if err != nil {
		return nil, err
	}
	init, err := p.plan(x.AccuInit())
	if err != nil {
		return nil, err
	}
	fo := &fold{overRange: overRange.boxed(), accu: p.newSlot(), key: p.newSlot(), item: p.newSlot(), two: x.HasIterVar2(), badRange: p.badRange(x)}
	fo.emptyRanges = p.semantics.has[emptyRanges]
	accu := &variable{name: x.AccuVar(), form: lazyForm, slot: fo.accu, init: mutable(init.boxed(), fo.accu)}
	if p.semantics.has[eagerAccumulators] {
		fo.init = accu.init
	}
	vars := []*variable{accu}
	loop := []*variable{{name: x.IterVar(), slot: fo.key}, accu}
	if fo.two {
		loop = []*variable{{name: x.IterVar2(), slot: fo.item}, {name: x.IterVar(), slot: fo.key}, accu}
	}
	for _, part := range []struct {
		vars []*variable
		e    ast.Expr
		val  *valFunc
	}{
		{loop, x.LoopCondition(), &fo.cond},
		{loop, x.LoopStep(), &fo.step},
		{vars, x.Result(), &fo.result},
	} {
		var body *body
		if part.val == &fo.step {
			body = p.watchBody(x, loop)
		}
		c, err := p.within(part.vars, part.e)
		if err != nil {
			return nil, err
		}
		p.endBody(body)
		*part.val = body.val(c.boxed(), true, !p.isAttribute(part.e))
	}
	return boxedCode(asFold, fo.run), nil
}

// mutable wraps init: an empty list or map becomes a mutable list or map, to which the fold adds in
// place, as in cel-go. The slot's num is then 1.
func mutable(init valFunc, slot int) valFunc {
	return func(f *frame) ref.Val {
		v := init(f)
		if l, ok := v.(traits.Lister); ok && l.Size() == celtypes.IntZero {
			f.slots[slot].num = 1
			return celtypes.NewMutableList(celtypes.DefaultTypeAdapter)
		}
		if m, ok := v.(traits.Mapper); ok && m.Size() == celtypes.IntZero {
			f.slots[slot].num = 1
			return celtypes.NewMutableMap(celtypes.DefaultTypeAdapter, map[ref.Val]ref.Val{})
		}
		return v
	}
}

func (fo *fold) run(f *frame) ref.Val {
	v := fo.overRange(f)
	if celtypes.IsUnknownOrError(v) {
		if fo.badRange != nil {
			return fo.badRange
		}
		return v
	}
	f.slots[fo.accu] = slot{}
	if fo.init != nil && v.Type().HasTrait(traits.IterableType) {
		init := fo.init(f)
		f.slots[fo.accu].val = init
	}
	done := false
	if fo.emptyRanges && isEmpty(v) {
		done = true
	} else if fo.two {
		m, isMap := v.(traits.Mapper)
		l, isList := v.(traits.Lister)
		switch {
		case isMap:
			done = fo.entries(f, m)
		case isList:
			done = fo.items(f, l)
		default:
			return newErr("unsupported comprehension range type: %s", celvalue.GoType(v))
		}
	} else {
		if !v.Type().HasTrait(traits.IterableType) {
			return newErr("got '%s', expected iterable type", celvalue.GoType(v))
		}
		done = fo.each(f, v)
	}
	if !done {
		return errInterrupted
	}
	v = fo.result(f)
	if f.slots[fo.accu].num == 1 {
		return immutable(v)
	}
	return v
}

func isEmpty(v ref.Val) bool {
	s, ok := v.(traits.Sizer)
	return ok && s.Size() == celtypes.IntZero
}

func immutable(v ref.Val) ref.Val {
	switch v := v.(type) {
	case traits.MutableLister:
		return v.ToImmutableList()
	case traits.MutableMapper:
		return v.ToImmutableMap()
	}
	return v
}

// next takes a step. It returns more as false at the end of the loop, and done as false if the
// evaluation was interrupted.
func (fo *fold) next(f *frame) (more, done bool) {
	if cond, ok := fo.cond(f).(celtypes.Bool); ok && !bool(cond) {
		return false, true
	}
	v := fo.step(f)
	f.slots[fo.accu].val = v
	if !f.tick() {
		return false, false
	}
	return true, true
}

func (fo *fold) each(f *frame, over ref.Val) bool {
	if m, ok := over.(traits.Mapper); ok {
		over = celtypes.NewRefValList(celtypes.DefaultTypeAdapter, f.sortedKeys(m))
	}
	it := over.(traits.Iterable).Iterator()
	for i := celtypes.IntZero; it.HasNext() == celtypes.True; i++ {
		f.parsed(celvalue.Parsed(over, i))
		f.slots[fo.key].val = it.Next()
		if more, done := fo.next(f); !more {
			return done
		}
	}
	return true
}

func (fo *fold) entries(f *frame, m traits.Mapper) bool {
	for _, key := range f.sortedKeys(m) {
		f.parsed(celvalue.Parsed(m, key))
		f.slots[fo.key].val, f.slots[fo.item].val = key, m.Get(key)
		if more, done := fo.next(f); !more {
			return done
		}
	}
	return true
}

// sortedKeys returns the keys of m in a fixed order, so that evaluation is deterministic.
func (f *frame) sortedKeys(m traits.Mapper) []ref.Val {
	n, _ := m.Size().(celtypes.Int)
	f.make(2 * perItem * float64(n))
	var keys []ref.Val
	for it := m.Iterator(); it.HasNext() == celtypes.True; {
		keys = append(keys, it.Next())
	}
	bytes := 0
	for _, key := range keys {
		bytes += perNode + textSize([]ref.Val{key}, 0)
	}
	f.sorted(8*len(keys), bytes)
	slices.SortStableFunc(keys, compareKeys)
	return keys
}

// compareKeys puts null last: it is the key of an object's fields that have no name.
func compareKeys(a, b ref.Val) int {
	if aNull, bNull := a == celtypes.NullValue, b == celtypes.NullValue; aNull || bNull {
		return cmp.Compare(rank(aNull), rank(bNull))
	}
	if a, ok := a.(traits.Comparer); ok {
		if n, ok := a.Compare(b).(celtypes.Int); ok {
			return int(n)
		}
	}
	return cmp.Compare(a.Type().TypeName(), b.Type().TypeName())
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

func (fo *fold) items(f *frame, l traits.Lister) bool {
	size, _ := l.Size().(celtypes.Int)
	for i := celtypes.IntZero; i < size; i++ {
		f.parsed(celvalue.Parsed(l, i))
		f.slots[fo.key].val, f.slots[fo.item].val = i, l.Get(i)
		if more, done := fo.next(f); !more {
			return done
		}
	}
	return true
}
