package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/types"
)

// kind is the form in which an expression's value is computed.
type kind uint8

const (
	boxedKind    kind = iota // CEL's own value, an error among them
	boolKind                 // test
	intKind                  // num
	doubleKind               // dbl
	stringKind               // str
	rawKind                  // raw: JSON, an object, map or list as decl says
	listKind                 // list: items that a macro built, of such values
	optionalKind             // opt: an optional of such a value, or of a scalar
)

// The forms of planned code. Where the bool is false or the truth bad, the
// frame has the error.
type (
	valFunc  = func(*frame) ref.Val
	testFunc = func(*frame) truth
	numFunc  = func(*frame) (int64, bool)
	dblFunc  = func(*frame) (float64, bool)
	strFunc  = func(*frame) (string, bool)
	rawFunc  = func(*frame) (any, bool)
	listFunc = func(*frame) ([]any, bool)
)

// code is a planned expression: one function as its kind says.
type code struct {
	kind kind
	test testFunc
	num  numFunc
	dbl  dblFunc
	str  strFunc
	// raw is also set beside str, num, dbl and test where the value comes from
	// JSON as it is.
	raw  rawFunc
	list listFunc
	// split is also set where the list is a text's parts.
	split *split
	opt   optFunc
	// val is also set where there is a better way than to box the typed value.
	val valFunc

	// decl declares raw and opt.
	decl *types.Decl
	// list is also set where only the items of a boxed list are asked for, elem
	// declares them.
	elem *types.Decl
	// konst is the value of a constant.
	konst ref.Val
	// exact boxed values are of the checked type or errors, never null.
	exact bool
	// null optionals may hold null.
	null bool

	typ *celtypes.Type
}

func (c *code) isConst() bool { return c.konst != nil }

// boxed is the code as CEL's own value.
func (c *code) boxed() valFunc {
	if c.val != nil {
		return c.val
	}
	switch c.kind {
	case boolKind:
		test := c.test
		return func(f *frame) ref.Val {
			switch test(f) {
			case yes:
				return celtypes.True
			case no:
				return celtypes.False
			}
			return f.err
		}
	case intKind:
		num := c.num
		return func(f *frame) ref.Val {
			if n, ok := num(f); ok {
				return celtypes.Int(n)
			}
			return f.err
		}
	case doubleKind:
		dbl := c.dbl
		return func(f *frame) ref.Val {
			if d, ok := dbl(f); ok {
				return celtypes.Double(d)
			}
			return f.err
		}
	case stringKind:
		str := c.str
		return func(f *frame) ref.Val {
			if s, ok := str(f); ok {
				return celtypes.String(s)
			}
			return f.err
		}
	case listKind:
		return boxList(c.list, c.elem)
	}
	return boxRaw(c.raw, c.decl)
}

func boxRaw(raw rawFunc, d *types.Decl) valFunc {
	parsing := fitOf(d) == fitValue
	return func(f *frame) ref.Val {
		if v, ok := raw(f); ok {
			if parsing {
				f.parsed(v)
			}
			return types.Value(v, d)
		}
		return f.err
	}
}

func boxList(list listFunc, elem *types.Decl) valFunc {
	parsing := elem != nil && fitOf(elem) == fitValue
	return func(f *frame) ref.Val {
		items, ok := list(f)
		if !ok {
			return f.err
		}
		f.make(2 * perItem * float64(len(items)))
		vals := make([]ref.Val, len(items))
		for i, item := range items {
			if parsing {
				f.parsed(item)
			}
			vals[i] = types.Value(item, elem)
		}
		return celtypes.NewRefValList(celtypes.DefaultTypeAdapter, vals)
	}
}

// truth is the code as a condition.
func (c *code) truth() testFunc {
	if c.kind == boolKind {
		return c.test
	}
	val := c.boxed()
	return func(f *frame) truth {
		switch v := val(f).(type) {
		case celtypes.Bool:
			return truthOf(bool(v))
		default:
			f.fail(v)
			return bad
		}
	}
}

// ints is the code as an int, nil when it may be something else.
func (c *code) ints() numFunc {
	if c.kind == intKind {
		return c.num
	}
	if !c.exactly(celtypes.IntKind) {
		return nil
	}
	val := c.val
	return func(f *frame) (int64, bool) {
		v := val(f)
		if n, ok := v.(celtypes.Int); ok {
			return int64(n), true
		}
		f.fail(v)
		return 0, false
	}
}

// doubles is the code as a double, nil when it may be something else.
func (c *code) doubles() dblFunc {
	if c.kind == doubleKind {
		return c.dbl
	}
	if !c.exactly(celtypes.DoubleKind) {
		return nil
	}
	val := c.val
	return func(f *frame) (float64, bool) {
		v := val(f)
		if d, ok := v.(celtypes.Double); ok {
			return float64(d), true
		}
		f.fail(v)
		return 0, false
	}
}

// strings is the code as a string, nil when it may be something else.
func (c *code) strings() strFunc {
	if c.kind == stringKind {
		return c.str
	}
	if !c.exactly(celtypes.StringKind) {
		return nil
	}
	val := c.val
	return func(f *frame) (string, bool) {
		v := val(f)
		if s, ok := v.(celtypes.String); ok {
			return string(s), true
		}
		f.fail(v)
		return "", false
	}
}

func (c *code) exactly(k celtypes.Kind) bool {
	return c.kind == boxedKind && c.exact && c.typ != nil && c.typ.Kind() == k
}

// constant is the code of a value known now; it costs nothing.
func constant(v ref.Val, t *celtypes.Type) *code {
	c := &code{konst: v, typ: t, val: func(*frame) ref.Val { return v }}
	switch v := v.(type) {
	case celtypes.Bool:
		b := truthOf(bool(v))
		c.kind, c.test = boolKind, func(*frame) truth { return b }
	case celtypes.Int:
		n := int64(v)
		c.kind, c.num = intKind, func(*frame) (int64, bool) { return n, true }
	case celtypes.Double:
		d := float64(v)
		c.kind, c.dbl = doubleKind, func(*frame) (float64, bool) { return d, true }
	case celtypes.String:
		s := string(v)
		c.kind, c.str = stringKind, func(*frame) (string, bool) { return s, true }
	}
	return c
}
