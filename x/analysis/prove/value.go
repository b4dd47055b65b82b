package prove

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

// alt is an alternative for the value of an expression, which applies if when holds: a constant,
// the value or size of place plus a number, or, if constant and place are nil, a value that is
// known only by its text. If no alternative applies, the expression is an error.
type alt struct {
	when     sat.Lit
	constant ref.Val
	place    *place
	size     bool
	plus     int64
	key      string
	// op and parts, if set, describe how the value is computed.
	op    string
	parts []alt
}

// name returns a name that only equal values share.
func (a alt) name() string {
	switch {
	case a.constant != nil:
		return literalTerm(a.constant)
	case a.place == nil:
		return a.key
	}
	name := a.place.key
	if a.size {
		name = "size(" + name + ")"
	}
	if a.plus != 0 {
		name += "+" + strconv.FormatInt(a.plus, 10)
	}
	return name
}

const maxAlts = 64

func (x *reading) value(e ast.Expr) []alt {
	g := &x.formula.gates
	if x.formula.spend(1) {
		return x.opaque(e)
	}
	switch e.Kind() {
	case ast.LiteralKind:
		return []alt{{when: g.yes, constant: e.AsLiteral()}}
	case ast.IdentKind:
		if v, ok := x.vars[e.AsIdent()]; ok && v.truth == nil {
			return v.alts
		}
	case ast.SelectKind:
		if s := e.AsSelect(); !s.IsTestOnly() {
			return x.merged(e, x.selection(s))
		}
	case ast.CallKind:
		if alts := x.callValue(e); alts != nil {
			return x.merged(e, alts)
		}
	}
	if x.isBool(e) && (e.Kind() != ast.IdentKind || x.vars[e.AsIdent()].truth != nil) {
		v := x.truth(e)
		return []alt{{when: v.t, constant: celtypes.True}, {when: v.f, constant: celtypes.False}}
	}
	return x.opaque(e)
}

func (x *reading) merged(e ast.Expr, alts []alt) []alt {
	g := &x.formula.gates
	var out []alt
	index := map[string]int{}
	for _, a := range alts {
		if a.when == g.no() {
			continue
		}
		name := a.name()
		if i, ok := index[name]; ok {
			out[i].when = g.any(out[i].when, a.when)
			continue
		}
		index[name] = len(out)
		out = append(out, a)
	}
	if len(out) > maxAlts {
		return x.opaque(e)
	}
	return out
}

func (x *reading) selection(s ast.SelectExpr) []alt {
	g := &x.formula.gates
	var out []alt
	for _, a := range x.value(s.Operand()) {
		if a.place != nil && !a.size {
			if q := a.place.selected(s.FieldName()); q != nil {
				out = append(out, alt{when: g.both(a.when, q.present), place: q})
				continue
			}
		}
		key := x.formula.term(a.name() + "." + s.FieldName())
		out = append(out, alt{when: g.both(a.when, x.formula.named("defined: "+key)), key: key})
	}
	return out
}

func (x *reading) callValue(e ast.Expr) []alt {
	call := e.AsCall()
	args := loops.Children(e)
	switch call.FunctionName() {
	case operators.Conditional:
		return x.choice(args)
	case operators.Index:
		return x.index(args[0], args[1])
	case "size":
		return x.sizes(args[0])
	case operators.Add, operators.Subtract, operators.Multiply:
		if x.kind(e) == celtypes.IntKind && x.kind(args[0]) == celtypes.IntKind && x.kind(args[1]) == celtypes.IntKind {
			return x.arithmetic(call.FunctionName(), args[0], args[1])
		}
	}
	return nil
}

func (x *reading) kind(e ast.Expr) celtypes.Kind { return x.ast.GetType(e.ID()).Kind() }

func (x *reading) choice(args []ast.Expr) []alt {
	g := &x.formula.gates
	c := x.truth(args[0])
	var out []alt
	for i, when := range []sat.Lit{c.t, c.f} {
		for _, a := range x.value(args[i+1]) {
			a.when = g.both(when, a.when)
			out = append(out, a)
		}
	}
	return out
}

func (x *reading) index(of, by ast.Expr) []alt {
	g := &x.formula.gates
	var out []alt
	as, bs := x.value(of), x.value(by)
	if x.formula.spend(len(as) * len(bs) / 8) {
		return nil
	}
	for _, a := range as {
		for _, b := range bs {
			when := g.both(a.when, b.when)
			if q := element(a, b); q != nil {
				out = append(out, alt{when: g.both(when, q.present), place: q})
				continue
			}
			key := x.formula.term(a.name() + "[" + b.name() + "]")
			out = append(out, alt{when: g.both(when, x.formula.named("defined: "+key)), key: key})
		}
	}
	return out
}

// element returns the item or entry at a constant index or at the index in a macro, or nil.
func element(of, by alt) *place {
	if of.place == nil || of.size || !of.place.plainElements() {
		return nil
	}
	if by.place != nil && !by.size && by.plus == 0 {
		return of.place.at(by.place)
	}
	switch by := by.constant.(type) {
	case celtypes.String:
		if of.place.decl.Kind == types.Map {
			return of.place.entry(string(by))
		}
	case celtypes.Int:
		if of.place.decl.Kind == types.List && 0 <= by && by < math.MaxInt32 {
			return of.place.item(int64(by))
		}
	}
	return nil
}

func (x *reading) sizes(of ast.Expr) []alt {
	var out []alt
	for _, a := range x.value(of) {
		switch {
		case a.constant != nil && a.constant.Type() == celtypes.StringType:
			out = append(out, alt{when: a.when, constant: celtypes.Int(len([]rune(string(a.constant.(celtypes.String)))))})
		case a.place != nil && !a.size && hasSize(a.place.decl.Kind):
			out = append(out, alt{when: a.when, place: a.place, size: true})
		default:
			key, when := x.formula.term("size("+a.name()+")"), a.when
			if !x.sized(of) {
				when = x.formula.both(when, x.formula.named("defined: "+key))
			}
			out = append(out, alt{when: when, key: key})
		}
	}
	return out
}

func (x *reading) sized(e ast.Expr) bool {
	switch x.kind(e) {
	case celtypes.StringKind, celtypes.BytesKind, celtypes.ListKind, celtypes.MapKind:
		return !x.mayBeNull(e)
	}
	return false
}

func hasSize(k types.Kind) bool { return k == types.String || k == types.List || k == types.Map }

// arithmetic returns exact values for sizes plus or minus constants, and otherwise values that record
// their operands and are undefined if the result is not an int64.
func (x *reading) arithmetic(function string, left, right ast.Expr) []alt {
	g := &x.formula.gates
	op := map[string]string{operators.Add: "+", operators.Subtract: "-", operators.Multiply: "*"}[function]
	var out []alt
	as, bs := x.value(left), x.value(right)
	if x.formula.spend(len(as) * len(bs) / 8) {
		return nil
	}
	for _, a := range as {
		for _, b := range bs {
			when := g.both(a.when, b.when)
			if c, ok := added(a, b, op); ok {
				c.when = when
				out = append(out, c)
				continue
			}
			c := alt{key: x.formula.term(fmt.Sprintf("(%s) %s (%s)", a.name(), op, b.name())), op: op, parts: []alt{a, b}}
			fits := x.formula.named("defined: " + c.key)
			x.formula.means(fits, "int64", c, c)
			c.when = g.both(when, fits)
			out = append(out, c)
		}
	}
	return out
}

// small limits numbers whose sums cannot overflow. Sizes are always below it.
const small = 1 << 40

func added(a, b alt, op string) (alt, bool) {
	sign := map[string]int64{"+": 1, "-": -1}[op]
	if sign == 0 {
		return alt{}, false
	}
	n, ok := b.constant.(celtypes.Int)
	if !ok || n > small || n < -small {
		if m, ok := a.constant.(celtypes.Int); ok && sign == 1 && b.size && -small <= m && m <= small {
			return added(b, a, "+")
		}
		return alt{}, false
	}
	by := sign * int64(n)
	switch {
	case a.size && -small <= a.plus && a.plus <= small:
		a.plus += by
		return a, true
	case a.constant != nil:
		m, ok := a.constant.(celtypes.Int)
		return alt{constant: m + celtypes.Int(by)}, ok && -small <= m && m <= small
	}
	return alt{}, false
}

func (x *reading) opaque(e ast.Expr) []alt {
	key := x.term(e)
	if x.formula.tooLarge {
		return []alt{{when: x.formula.free(), key: key}}
	}
	defined := x.argumentsDefined(e)
	if !x.neverFails(e) {
		defined = x.formula.both(defined, x.formula.named("defined: "+key))
	}
	return []alt{{when: defined, key: key}}
}

// argumentsDefined returns a literal that holds if no argument that e always evaluates is an error. Of a macro, only
// the range counts.
func (x *reading) argumentsDefined(e ast.Expr) sat.Lit {
	g := &x.formula.gates
	switch e.Kind() {
	case ast.ComprehensionKind:
		return x.defined(e.AsComprehension().IterRange())
	case ast.CallKind:
	default:
		return g.yes
	}
	args := loops.Children(e)
	switch e.AsCall().FunctionName() {
	case operators.Conditional, "or", "orValue": // other arguments are only evaluated if needed
		args = args[:1]
	}
	defined := g.yes
	for _, arg := range args {
		defined = g.both(defined, x.defined(arg))
	}
	return defined
}

func (x *reading) defined(e ast.Expr) sat.Lit {
	g := &x.formula.gates
	if x.isBool(e) {
		return x.truth(e).defined(g)
	}
	return valued(g, x.value(e))
}

// total holds functions that succeed for all arguments of their declared types that are not null.
var total = []string{
	"size", "lowerAscii", "upperAscii", "trim", "replace", "split", "join", "reverse", "type",
	"isURL", "isIP", "isCIDR", "isQuantity", "isSorted", "indexOf", "lastIndexOf", "startsWith", "endsWith", "contains",
	operators.In,
}

// wholly holds the functions of total that also need items that are visible and not null.
var wholly = []string{"join", "isSorted", operators.In}

// neverFails reports whether e has a value if its arguments have.
func (x *reading) neverFails(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return e.Kind() == ast.LiteralKind
	}
	call := e.AsCall()
	if !slices.Contains(total, call.FunctionName()) || call.FunctionName() == "indexOf" && len(call.Args()) > 1 || call.FunctionName() == "lastIndexOf" && len(call.Args()) > 1 {
		return false
	}
	if slices.Contains(wholly, call.FunctionName()) && (x.nulls || x.hidden) {
		return false
	}
	if call.FunctionName() == operators.In && x.kind(call.Args()[1]) == celtypes.ListKind && !scalarKind(x.kind(call.Args()[0])) {
		return false // the comparison with an item can fail: see comparable
	}
	return !slices.ContainsFunc(loops.Children(e), func(arg ast.Expr) bool { return !x.sure(arg) })
}
