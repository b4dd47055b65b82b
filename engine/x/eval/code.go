package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine/x/celvalue"
	"github.com/celadon-cel/celadon/types"
)

// How it works: boxing makes CEL slow, because each int, string, and bool becomes an interface
// value, is compared through dynamic dispatch, and is thrown away. So the planner compiles each
// node to a Go function that returns its native Go type, and a parent requests the form that it can
// use: ints returns nil if the value might not be an int; boxed always works. Closures are called
// through a pointer, without an instruction switch or bytecode. The second result of a function
// reports whether it succeeded. The error itself is stored in the frame, because returning it would
// require boxing.

type kind uint8

const (
	boxedKind kind = iota // val: a ref.Val; may be an error
	boolKind
	intKind
	stringKind
	rawKind  // raw: a JSON object, map, or list, described by decl
	listKind // list: JSON items that a macro collected
)

// The functions of planned code. If the bool is false or the truth is bad, the frame holds the
// error.
type (
	valFunc  = func(*frame) ref.Val
	testFunc = func(*frame) truth
	intFunc  = func(*frame) (int64, bool)
	strFunc  = func(*frame) (string, bool)
	rawFunc  = func(*frame) (any, bool)
	listFunc = func(*frame) ([]any, bool)
)

// A code is a planned expression. The function for its kind is always set. Other functions are set
// if the value is also available in their form, so that a parent can choose the best form.
type code struct {
	kind     kind
	typ      *celtypes.Type
	strategy strategy

	test testFunc
	num  intFunc
	str  strFunc
	raw  rawFunc // rawKind, and any kind whose value is unchanged JSON
	list listFunc
	val  valFunc // boxedKind, and other kinds if there is a cheaper way than boxing

	decl     *types.Decl
	elem     *types.Decl
	constant ref.Val // the value of a constant, else nil
	exact    bool    // if boxed, the value has the checked type or is an error; it is never null
}

type strategy uint8

const (
	typed strategy = iota
	asCall
	asEquality
	asPath // looks up fields and items on ref.Vals
	asFold // runs a macro as the parser expanded it
	asLoop // runs a macro as a loop that collects ref.Vals
	asLiteral
	asChoice // is a conditional whose branches differ in kind
	asValue  // reads JSON that has no typed form
)

func boolCode(test testFunc) *code          { return &code{kind: boolKind, test: test} }
func intCode(num intFunc) *code             { return &code{kind: intKind, num: num} }
func stringCode(str strFunc) *code          { return &code{kind: stringKind, str: str} }
func boxedCode(h strategy, v valFunc) *code { return &code{kind: boxedKind, strategy: h, val: v} }

func jsonCode(raw rawFunc, d *types.Decl) *code { return &code{kind: rawKind, raw: raw, decl: d} }

func listCode(list listFunc, elem *types.Decl) *code {
	return &code{kind: listKind, list: list, elem: elem}
}

func (c *code) isConst() bool { return c.constant != nil }

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
	return func(f *frame) ref.Val {
		if v, ok := raw(f); ok {
			return f.box(v, d)
		}
		return f.err
	}
}

func boxList(list listFunc, elem *types.Decl) valFunc {
	return func(f *frame) ref.Val {
		if items, ok := list(f); ok {
			return f.boxItems(items, elem)
		}
		return f.err
	}
}

func (f *frame) box(v any, d *types.Decl) ref.Val {
	if d != nil && goTypeOf(d) == goCheckedValue {
		f.parsed(v)
	}
	return celvalue.New(v, d)
}

func (f *frame) boxItems(items []any, elem *types.Decl) ref.Val {
	f.make(2 * perItem * float64(len(items)))
	vals := make([]ref.Val, len(items))
	for i, item := range items {
		vals[i] = f.box(item, elem)
	}
	return celtypes.NewRefValList(celtypes.DefaultTypeAdapter, vals)
}

func (c *code) truth() testFunc {
	if c.kind == boolKind {
		return c.test
	}
	val := c.boxed()
	return func(f *frame) truth { return f.truth(val(f)) }
}

func (f *frame) truth(v ref.Val) truth {
	if b, ok := v.(celtypes.Bool); ok {
		return truthOf(bool(b))
	}
	f.fail(v)
	return bad
}

// ints returns a function that evaluates c to an int, or nil if the value may be anything else.
func (c *code) ints() intFunc {
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

func constant(v ref.Val, t *celtypes.Type) *code {
	c := &code{constant: v, typ: t, val: func(*frame) ref.Val { return v }}
	switch v := v.(type) {
	case celtypes.Bool:
		b := truthOf(bool(v))
		c.kind, c.test = boolKind, func(*frame) truth { return b }
	case celtypes.Int:
		n := int64(v)
		c.kind, c.num = intKind, func(*frame) (int64, bool) { return n, true }
	case celtypes.String:
		s := string(v)
		c.kind, c.str = stringKind, func(*frame) (string, bool) { return s, true }
	}
	return c
}
