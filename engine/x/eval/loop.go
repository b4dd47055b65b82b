package eval

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/types"
)

// How it works: if the range is declared, a loop iterates over JSON without boxing the items. The
// variable's slot holds the raw item, which is boxed only on demand. The keys of a map are copied
// to a stack and sorted, so that evaluation is deterministic. A loop is independent of the macro;
// macro.go implements what happens to each item.

// A loop is the range of a macro with the slots of its variables. Exactly one of list, entries, and
// boxed is set.
type loop struct {
	list        listFunc
	entries     rawFunc // a map, iterated in key order
	boxed       valFunc
	elem        *types.Decl
	two         bool
	key, item   int
	null        *celtypes.Err
	emptyRanges bool
	// badRange replaces an error of the range; nil if the error is kept.
	badRange *celtypes.Err
}

type cursor struct {
	items   []any
	keys    []string
	entries map[string]any
	over    ref.Val
	boxed   traits.Iterator
	i, n    int
	base    int // the height of the frame's keys before the loop
}

// loop plans a macro's range. It returns nil if the macro has two variables and the range is not
// planned as JSON.
func (p *planner) loop(x ast.ComprehensionExpr) (*loop, error) {
	over, err := p.plan(x.IterRange())
	if err != nil {
		return nil, err
	}
	l := &loop{two: x.HasIterVar2(), key: p.newSlot(), item: p.newSlot()}
	l.null = newErr("got '%s', expected iterable type", celvalue.GoType(celtypes.NullValue))
	if l.two {
		l.null = newErr("unsupported comprehension range type: %s", celvalue.GoType(celtypes.NullValue))
	}
	l.badRange = p.badRange(x)
	switch {
	case over.kind == rawKind && isList(over.decl):
		l.list, l.elem = l.rawList(over.raw), over.decl.Elem
	case over.kind == rawKind && isMap(over.decl):
		l.entries, l.elem = over.raw, over.decl.Elem
	case over.list != nil:
		l.list, l.elem = over.list, over.elem
	case l.two:
		return nil, nil
	default:
		l.boxed = over.boxed()
		l.emptyRanges = p.semantics.has[emptyRanges]
	}
	return l, nil
}

// errBadRange is the error of a macro with two variables over an error, in versions with typedRanges.
var errBadRange = newErr("unsupported comprehension range type: *types.Err")

func (p *planner) badRange(x ast.ComprehensionExpr) *celtypes.Err {
	if x.HasIterVar2() && p.semantics.has[typedRanges] {
		return errBadRange
	}
	return nil
}

func (l *loop) rawList(raw rawFunc) listFunc {
	return func(f *frame) ([]any, bool) {
		v, ok := raw(f)
		if !ok {
			return nil, false
		}
		items, ok := v.([]any)
		if !ok {
			f.err = l.null
		}
		return items, ok
	}
}

// Later variables shadow earlier variables.
func (l *loop) variables(x ast.ComprehensionExpr) []*variable {
	result := &variable{name: x.AccuVar(), form: resultForm}
	item := &variable{form: rawForm, slot: l.item, decl: l.elem}
	key := &variable{name: x.IterVar(), slot: l.key}
	switch {
	case l.list != nil && !l.two:
		item.name = x.IterVar()
		return []*variable{item, result}
	case l.list != nil:
		key.form = numForm
	case l.entries != nil:
		key.form = textForm
	default:
		key.form = untypedForm
	}
	if !l.two {
		return []*variable{key, result}
	}
	item.name = x.IterVar2()
	return []*variable{item, key, result}
}

func (l *loop) begin(f *frame, c *cursor) bool {
	ok := l.beginRange(f, c)
	if !ok && l.badRange != nil && f.err != l.null {
		f.err = l.badRange
	}
	return ok
}

func (l *loop) beginRange(f *frame, c *cursor) bool {
	switch {
	case l.list != nil:
		items, ok := l.list(f)
		c.items, c.n = items, len(items)
		return ok
	case l.entries != nil:
		return l.beginEntries(f, c)
	}
	return l.beginBoxed(f, c, l.boxed(f))
}

func (l *loop) beginBoxed(f *frame, c *cursor, v ref.Val) bool {
	if celtypes.IsUnknownOrError(v) {
		f.fail(v)
		return false
	}
	if m, ok := v.(traits.Mapper); ok {
		v = celtypes.NewRefValList(celtypes.DefaultTypeAdapter, f.sortedKeys(m))
	}
	if items, ok := celvalue.Items(v); ok {
		c.items, c.n = items, len(items)
		return true
	}
	if l.emptyRanges && isEmpty(v) {
		return true
	}
	if !v.Type().HasTrait(traits.IterableType) {
		f.err = newErr("got '%s', expected iterable type", celvalue.GoType(v))
		return false
	}
	c.over, c.boxed = v, v.(traits.Iterable).Iterator()
	return true
}

func (l *loop) beginEntries(f *frame, c *cursor) bool {
	v, ok := l.entries(f)
	if !ok {
		return false
	}
	if c.entries, ok = v.(map[string]any); !ok {
		f.err = l.null
		return false
	}
	c.base, c.n = len(f.keys), len(c.entries)
	bytes := 0
	for key := range c.entries {
		f.keys = append(f.keys, key)
		bytes += len(key)
	}
	c.keys = f.keys[c.base:]
	f.sorted(c.n, bytes)
	slices.Sort(c.keys)
	return true
}

func (l *loop) next(f *frame, c *cursor) bool {
	if c.boxed != nil {
		if c.boxed.HasNext() != celtypes.True {
			return false
		}
		f.parsed(celvalue.Parsed(c.over, celtypes.Int(c.i)))
		f.slots[l.key].val = c.boxed.Next()
		c.i++
		return true
	}
	if c.i >= c.n {
		return false
	}
	item := &f.slots[l.item]
	if l.boxed != nil {
		item = &f.slots[l.key]
	}
	if l.entries != nil {
		f.slots[l.key].text = c.keys[c.i]
		if l.two {
			item.raw, item.val = c.entries[c.keys[c.i]], nil
		}
	} else {
		item.raw, item.val = c.items[c.i], nil
		f.slots[l.key].num = int64(c.i)
	}
	c.i++
	return true
}

func (l *loop) end(f *frame, c *cursor) {
	if l.entries != nil {
		f.popKeys(c.base)
	}
}
