package eval

import (
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/types"
)

// How it works: boxing is what makes CEL slow: each int, string and bool
// becomes an interface value, is compared by dynamic dispatch, and is thrown
// away. So every node is planned as a Go function that returns its own Go type,
// and a parent asks its parts for the form that it can use: ints() is nil where
// an int cannot be had, boxed() always works. Closures are called through one
// pointer, without a switch over instructions; there is no bytecode. A second
// result says that there is an error, which stands in the frame: an error value
// would have to be boxed, too.

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

// code is a planned expression. What it was made with by one of the functions
// below holds its value, in the form of its kind; the rest is what else is known
// of it, by which others choose a better form.
type code struct {
	kind kind
	typ  *celtypes.Type // what the checker says
	how  how

	// The value: of each kind its own. A boxed value can be asked of every code.
	test testFunc // boolKind
	num  numFunc  // intKind
	dbl  dblFunc  // doubleKind
	str  strFunc  // stringKind
	raw  rawFunc  // rawKind, and beside any kind where the value is JSON as it is
	list listFunc // listKind, and boxed lists of which only the items are asked
	opt  optFunc  // optionalKind
	val  valFunc  // boxedKind, and where there is a better way than to box

	decl  *types.Decl // of raw and of opt
	elem  *types.Decl // of the items of list
	split *split      // the list is a text's parts
	konst ref.Val     // the value of a constant
	exact bool        // a boxed value is of the checked type or an error, never null
	null  bool        // an optional may hold null
}

// how is the way in which a code that is not typed gets its value.
type how uint8

const (
	typed      how = iota
	asCall         // a library's function is called
	asEquality     // two values compare themselves
	asPath         // fields and items are looked up on CEL's own values
	asFold         // a macro runs as the parser wrote it out
	asLoop         // a macro's loop gathers CEL's own values
	asLiteral      // a list, a map or a message is made
	asChoice       // branches differ in kind
	asValue        // JSON is read that has no typed form
)

func boolCode(test testFunc) *code     { return &code{kind: boolKind, test: test} }
func intCode(num numFunc) *code        { return &code{kind: intKind, num: num} }
func doubleCode(dbl dblFunc) *code     { return &code{kind: doubleKind, dbl: dbl} }
func stringCode(str strFunc) *code     { return &code{kind: stringKind, str: str} }
func boxedCode(h how, v valFunc) *code { return &code{kind: boxedKind, how: h, val: v} }

func jsonCode(raw rawFunc, d *types.Decl) *code { return &code{kind: rawKind, raw: raw, decl: d} }

func listCode(list listFunc, elem *types.Decl) *code {
	return &code{kind: listKind, list: list, elem: elem}
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
