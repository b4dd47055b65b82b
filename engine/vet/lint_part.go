package vet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/types"
)

// constantPart finds a condition in a rule that has the same result for every valid object, unless the whole rule
// has. It ignores tests whether a value is absent or empty, which many authors write on purpose, and tests of
// oldSelf, which can be older than the schema.
func constantPart(in *inspection) *Lint {
	if eval.MayPanic(in.expr.ast.NativeRep()) {
		return nil
	}
	p := &partSearch{inspection: in, constancy: &constancy{walk: in.walk}}
	p.visit(in.expr.ast.NativeRep().Expr(), nil, nil)
	if p.found == nil || in.constant() != maybe {
		return nil
	}
	return p.found
}

type partSearch struct {
	*inspection
	constancy *constancy
	found     *Lint
	spelled   int // literals that were compared with an enum
}

// If e is an operand of && or ||, call is that call and other is its other operand; otherwise they are nil.
func (p *partSearch) visit(e, call, other ast.Expr) {
	if p.found != nil {
		return
	}
	if e.Kind() == ast.ComprehensionKind {
		if p.ofElements(e); p.found == nil {
			p.loop(e.AsComprehension())
		}
		return
	}
	switch op, args := operation(e); op {
	case operators.LogicalAnd, operators.LogicalOr:
		if name, _ := operation(call); name != op {
			p.chain(e, op)
		}
		p.visit(args[0], e, args[1])
		p.visit(args[1], e, args[0])
	case operators.LogicalNot:
		p.visit(args[0], nil, nil)
	case operators.Conditional:
		for _, arg := range args {
			p.visit(arg, nil, nil)
		}
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In:
		if !p.reported(op, args) {
			return
		}
		if v := p.constancy.truth(e); v != maybe {
			p.report(e, v, call, other)
		}
	}
}

func (p *partSearch) loop(loop ast.ComprehensionExpr) {
	step := loop.LoopStep()
	if step.Kind() != ast.CallKind {
		return
	}
	p.walk.within(loop, func() {
		for _, arg := range step.AsCall().Args() {
			p.visit(arg, nil, nil)
		}
	})
}

func (p *partSearch) reported(op string, args []ast.Expr) (reads bool) {
	for i, arg := range args {
		of := sizeOperand(arg)
		if of != nil {
			arg = of
		}
		if at := p.walk.fieldOf(arg); at != nil {
			isZero := args[1-i].AsLiteral() == celtypes.IntZero // authors treat 0 like an absent number
			if at.root().path == types.OldSelf || p.walk.tested[at.path] && isZero {
				return false
			}
			reads = true
		}
		if text, ok := literals(arg); ok && slices.Contains(text, "") || isEmptyTest(op, args, i, of != nil) {
			return false
		}
	}
	return reads
}

// The size of an operand can also be compared in a way that distinguishes 0 from larger sizes.
func isEmptyTest(op string, args []ast.Expr, i int, isSize bool) bool {
	literal := args[1-i].AsLiteral()
	n, ok := literal.(celtypes.Int)
	if !isSize || !ok {
		return !isSize && literal == celtypes.String("")
	}
	result := func(size int64) bool {
		if i == 1 { // 0 < size(x)
			return holds(op, cmp.Compare(int64(n), size))
		}
		return holds(op, cmp.Compare(size, int64(n)))
	}
	return result(0) != result(1) && result(1) == result(2)
}

func (p *partSearch) report(e ast.Expr, v truth, call, other ast.Expr) {
	op, _ := operation(call)
	removable := v == always && op == operators.LogicalAnd || v == never && op == operators.LogicalOr
	text, ok := p.text(e)
	if !ok {
		return
	}
	literal, right := p.misspelled(e)
	if literal != nil && right == "" && removable {
		return
	}
	p.found = &Lint{Message: short(text) + " is always true: the schema allows no value for which it is false; remove it, or correct it if it should test something"}
	if v == never {
		p.found.Message = short(text) + " is never true: the schema allows no value for which it is; correct it, or correct the schema"
	}
	if right != "" {
		p.found.Message += "; did you mean " + right + "?"
		if edit, ok := p.replaced(literal, "'"+right+"'"); ok {
			p.found.Fix = p.fixed(edit)
		}
	} else if removable {
		if edit, ok := p.without(call, other); ok {
			p.found.Fix, p.found.Equivalent = p.fixed(edit), true
		}
	}
}

const maxSpelled = 16

// misspelled returns the literal that is compared with a field with an enum, and the value of the enum that is
// spelled similarly, or "". Without such a value, report skips a comparison that can be removed, because some CRDs
// have variants with different enums.
func (p *partSearch) misspelled(e ast.Expr) (literal ast.Expr, right string) {
	_, args := operation(e)
	for i, arg := range args {
		at, other := p.walk.fieldOf(arg), args[1-i]
		text, ok := other.AsLiteral().(celtypes.String)
		if at == nil || at.node == nil || !ok {
			continue
		}
		known, ok := enum(at)
		if !ok {
			continue
		}
		if p.spelled++; p.spelled > maxSpelled || len(known) > maxEnum {
			return other, ""
		}
		right = spell.Nearest(string(text), known)
		if strings.ContainsAny(right, "'\\\n") {
			right = ""
		}
		return other, right
	}
	return nil, ""
}

// ofElements checks for all(x, !exists(y, …)) and all(x, exists(y, …)) over the same list with a condition that is
// true if both elements are the same.
func (p *partSearch) ofElements(e ast.Expr) {
	outer, ok := macroOf(e)
	if !ok || outer.Name != loops.All || outer.Index != "" {
		return
	}
	body, negated := outer.Body, false
	if op, args := operation(body); op == operators.LogicalNot {
		body, negated = args[0], true
	}
	inner, ok := macroOf(body)
	if !ok || inner.Name != loops.Exists || inner.Index != "" {
		return
	}
	_, keys := p.comparedKeys(outer, inner)
	text, ok := p.text(e)
	if keys == nil || !ok {
		return
	}
	is := " is always true"
	if negated {
		is = " is true only for an empty list"
	}
	p.found = &Lint{Message: short(text) + is + ", because each element is equal to itself: use exists_one to test for unique elements"}
}

type fact struct {
	term ast.Expr
	path string
	op   string
	// The value of the literal.
	text   string
	number int64
}

func (f fact) fulfilled(text string, number int64) bool {
	return holds(f.op, cmp.Or(cmp.Compare(number, f.number), strings.Compare(text, f.text)))
}

// chain checks whether two operands of && exclude each other, or whether one of two operands of || is always true.
func (p *partSearch) chain(e ast.Expr, op string) {
	first := map[string][]fact{}
	for _, term := range loops.Terms(e, op) {
		f, ok := p.fact(term)
		if !ok {
			continue
		}
		known := first[f.path]
		for _, other := range known {
			if p.excludes(op, other, f) {
				return
			}
		}
		if len(known) < maxFacts {
			first[f.path] = append(known, f)
		}
	}
}

const maxFacts = 8

func (p *partSearch) fact(term ast.Expr) (f fact, ok bool) {
	op, args := operation(term)
	if op == operators.LogicalNot {
		f, ok = p.fact(args[0])
		f.term, f.op = term, opposite[f.op]
		return f, ok
	}
	if opposite[op] == "" {
		return f, false
	}
	at := p.walk.fieldOf(args[0])
	if at == nil || at.elements || at.decl.Nullable || at.root().path == types.OldSelf {
		return f, false
	}
	switch v := args[1].AsLiteral().(type) {
	case celtypes.String:
		ok = at.decl.Kind == types.String && (op == operators.Equals || op == operators.NotEquals)
		f.text = string(v)
	case celtypes.Int:
		ok, f.number = at.decl.Kind == types.Int, int64(v)
	}
	if !ok {
		return f, false
	}
	f.term, f.path, f.op = term, at.path, op
	return f, true
}

var opposite = map[string]string{
	operators.Equals: operators.NotEquals, operators.NotEquals: operators.Equals,
	operators.Less: operators.GreaterEquals, operators.GreaterEquals: operators.Less,
	operators.Greater: operators.LessEquals, operators.LessEquals: operators.Greater,
}

func (p *partSearch) excludes(op string, a, b fact) bool {
	x, y := a, b
	if op == operators.LogicalOr {
		x.op, y.op = opposite[a.op], opposite[b.op]
	}
	if !disjoint(x, y) {
		return false
	}
	text, ok := p.text(a.term)
	text2, ok2 := p.text(b.term)
	switch {
	case !ok || !ok2:
		return false
	case op == operators.LogicalOr:
		p.found = &Lint{Message: fmt.Sprintf("%s || %s is always true: no value makes both false; write && if both must hold", short(text), short(text2))}
	default:
		p.found = &Lint{Message: fmt.Sprintf("%s && %s is never true: no value makes both true; write || if one must hold", short(text), short(text2))}
	}
	return true
}

// It is enough to test the literals and the integers next to them. For strings, number 0 means the literal itself, and
// another number any other string.
func disjoint(a, b fact) bool {
	for _, f := range []fact{a, b} {
		for _, number := range []int64{f.number - 1, f.number, f.number + 1} {
			if a.fulfilled(f.text, number) && b.fulfilled(f.text, number) {
				return false
			}
		}
	}
	return true
}
