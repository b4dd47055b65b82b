package prove

import (
	"maps"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

type reading struct {
	formula *formula
	ast     *ast.AST
	vars    map[string]variable
	// nulls is set if some items or entries can be null, or the rule uses null as a value. hidden is
	// set if some items or entries are hidden from rules.
	nulls, hidden bool
}

// variable is the value of a variable: alternatives, or a truth if its type is bool.
type variable struct {
	key   string // equal for equal values
	alts  []alt
	truth *truth
}

func (x *reading) with(name string, v variable) *reading {
	y := *x
	y.vars = maps.Clone(x.vars)
	y.vars[name] = v
	return &y
}

func (x *reading) isBool(e ast.Expr) bool { return x.ast.GetType(e.ID()).Kind() == celtypes.BoolKind }

func (x *reading) truth(e ast.Expr) truth {
	g := &x.formula.gates
	if x.formula.spend(1) {
		return g.anything(g.yes)
	}
	switch e.Kind() {
	case ast.LiteralKind:
		is := literal(g.yes, e.AsLiteral() == celtypes.True)
		return truth{is, is.Not()}
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() {
			return x.has(e.AsSelect())
		}
	case ast.IdentKind:
		if v, ok := x.vars[e.AsIdent()]; ok && v.truth != nil {
			return *v.truth
		}
	case ast.CallKind:
		return x.call(e)
	case ast.ComprehensionKind:
		return x.loop(e)
	}
	return x.flagOf(e)
}

func (x *reading) flagOf(e ast.Expr) truth {
	g := &x.formula.gates
	var t, f []sat.Lit
	for _, a := range x.value(e) {
		flag, when := x.formula.yes, a.when
		switch {
		case a.constant == celtypes.True, a.constant == celtypes.False:
			flag = literal(flag, a.constant == celtypes.True)
		case a.place != nil && a.place.decl.Kind == types.Bool:
			flag = a.place.flag
		default:
			if flag = x.formula.named("flag of " + a.name()); !x.sure(e) {
				when = g.both(when, x.formula.named("defined: flag of "+a.name()))
			}
		}
		t, f = append(t, g.both(when, flag)), append(f, g.both(when, flag.Not()))
	}
	return truth{g.any(t...), g.any(f...)}
}

func (x *reading) call(e ast.Expr) truth {
	g := &x.formula.gates
	call := e.AsCall()
	args := call.Args()
	switch name := call.FunctionName(); name {
	case operators.LogicalNot:
		return x.truth(args[0]).not()
	case operators.LogicalAnd:
		a, b := x.truth(args[0]), x.truth(args[1])
		return truth{g.all(a.t, b.t), g.any(a.f, b.f)}
	case operators.LogicalOr:
		a, b := x.truth(args[0]), x.truth(args[1])
		return truth{g.any(a.t, b.t), g.all(a.f, b.f)}
	case operators.Conditional:
		c, a, b := x.truth(args[0]), x.truth(args[1]), x.truth(args[2])
		return truth{g.any(g.all(c.t, a.t), g.all(c.f, b.t)), g.any(g.all(c.t, a.f), g.all(c.f, b.f))}
	case operators.Index:
		return x.flagOf(e)
	case operators.Equals:
		is, isNot, _ := x.equality(args[0], args[1])
		return truth{is, isNot}
	case operators.NotEquals:
		is, isNot, fails := x.equality(args[0], args[1])
		return truth{g.any(isNot, fails), is}
	case operators.Less, operators.LessEquals:
		return x.compare(e, args[0], args[1], name == operators.LessEquals)
	case operators.Greater, operators.GreaterEquals:
		return x.compare(e, args[1], args[0], name == operators.GreaterEquals)
	case operators.In, operators.OldIn:
		return x.membership(e, args[0], args[1])
	case "matches", "startsWith", "endsWith", "contains":
		return x.textual(e, call)
	}
	return x.unmodeled(e)
}

// unmodeled returns the truth of an expression that is known only by its text. It is an error if an argument is; see
// argumentsDefined.
func (x *reading) unmodeled(e ast.Expr) truth {
	g := &x.formula.gates
	defined := x.argumentsDefined(e)
	key := x.term(e)
	if x.neverFails(e) {
		return g.given(defined, x.formula.named(key))
	}
	return g.given(g.both(defined, x.formula.named("defined: "+key)), x.formula.named(key))
}

func (x *reading) has(s ast.SelectExpr) truth {
	g := &x.formula.gates
	var t, f []sat.Lit
	for _, a := range x.value(s.Operand()) {
		there := x.hasField(a, s.FieldName())
		t, f = append(t, g.both(a.when, there.t)), append(f, g.both(a.when, there.f))
	}
	return truth{g.any(t...), g.any(f...)}
}

func (x *reading) hasField(a alt, ident string) truth {
	g := &x.formula.gates
	if a.place != nil && !a.size {
		if q := a.place.selected(ident); q != nil {
			return truth{q.present, q.present.Not()}
		}
	}
	key := "has(" + a.name() + "." + ident + ")"
	return g.given(x.formula.named("defined: "+key), x.formula.named(key))
}

func (p *place) selected(ident string) *place {
	switch p.decl.Kind {
	case types.Object:
		if f, ok := p.decl.ByIdent(ident); ok {
			return p.field(f)
		}
	case types.Map:
		if p.plainElements() {
			return p.entry(ident)
		}
	}
	return nil
}

// plainElements reports whether the items or entries of p are visible to rules and never null.
func (p *place) plainElements() bool {
	d := p.decl.Elem
	return d != nil && d.Kind != types.Hidden && !d.Nullable
}
