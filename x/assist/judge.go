package assist

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
	"github.com/celadon-cel/celadon/types"
)

// judge decides whether a corrected expression that compiles is offered. An edit that the checker accepts can still
// make a useless rule, such as a rule that is always true. Parts that the author wrote are assumed to be intended,
// so mostly parts that a correction adds are examined.
type judge struct {
	context *Context
	was     string // the expression with the mistake, on one line
	source  *lex.Source
	is      *ast.AST
}

// sound reports whether x may be offered as a correction of the expression was.
func (p *Context) sound(was string, x *expr.Expr) bool {
	j := &judge{context: p, was: lex.Flat(was), source: lex.NewSource(x.Source(), x.AST()), is: x.AST().NativeRep()}
	return p.fits(x) && j.keepsTests(was) && !j.testsRequired() && j.soundPart(j.is.Expr()) && p.affordable(was, x)
}

func (j *judge) soundPart(e ast.Expr) bool {
	ok := true
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if ok && (e.Kind() == ast.CallKind || e.Kind() == ast.ComprehensionKind) {
			ok = j.soundNode(e)
		}
	}))
	return ok
}

// soundNode examines a call or macro without its parts.
func (j *judge) soundNode(e ast.Expr) bool {
	text := j.source.Of(e)
	if isComparison(e) && (!j.varies(e) || decidesNothing(e)) {
		return false
	}
	if text == "" || strings.Contains(j.was, text) {
		return true // the author wrote it
	}
	if e.Kind() == ast.ComprehensionKind {
		l, ok := loops.Of(e)
		return !ok || l.Body == nil || l.Item != nil || l.Index != "" || mentions(l.Body, l.Variable) && !j.isMember(l)
	}
	args, name := e.AsCall().Args(), e.AsCall().FunctionName()
	if symbol, ok := operators.FindReverse(name); ok && symbol != "" && j.source.Token(e) != symbol {
		return true // a macro made it
	}
	switch name {
	case "string", "int", "uint", "double", "bool":
		if len(args) != 1 || j.kindOf(args[0]) == kindBool || isCall(args[0], "string") || isCall(args[0], operators.Divide) {
			return len(args) != 1
		}
		return name == "string" || j.kindOf(args[0]) != kindString || j.isNumeric(args[0])
	case "size":
		list := e.AsCall().Target()
		if !e.AsCall().IsMemberFunction() {
			list = args[0]
		}
		l, ok := loops.Of(list) // a list of conditions is as long as the list that they are about
		return !ok || l.Item == nil || j.kindOf(l.Item) != kindBool
	case operators.OptSelect:
		field, isText := textIn(args[1])
		return !isText || !j.isRequired(args[0], field)
	case "hasValue":
		target := e.AsCall().Target() // it is constant for a result of optional.of()
		return target.Kind() != ast.CallKind || !strings.HasPrefix(target.AsCall().FunctionName(), "optional.")
	case operators.Equals, operators.NotEquals:
		a, b := j.kindOf(args[0]), j.kindOf(args[1])
		if slices.ContainsFunc(lex.Tokens([]rune(j.was)), isExclusive) && a != kindBool && b != kindBool {
			return false // the author means whether the operands are present
		}
		return j.source.Of(args[0]) != j.source.Of(args[1]) && !(a == kindAny && b.isMade()) && !(b == kindAny && a.isMade()) &&
			(a == kindType) == (b == kindType) && !j.isNeverNull(args[0], b) && !j.isNeverNull(args[1], a)
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		a, b := j.kindOf(args[0]), j.kindOf(args[1])
		return j.source.Of(args[0]) != j.source.Of(args[1]) && !slices.ContainsFunc(args, j.isUnordered) &&
			!(a == kindAny && constructors[b] != "") && !(b == kindAny && constructors[a] != "")
	case operators.Conditional:
		if args[1].Kind() == ast.LiteralKind && j.kindOf(args[1]) == kindInt && !strings.Contains(j.was, j.source.Of(args[0])) {
			return false // a number of a condition that another edit made
		}
		return j.source.Token(e) != "?" || j.varies(args[0]) && j.source.Of(args[1]) != j.source.Of(args[2]) && !slices.ContainsFunc(args[1:], func(e ast.Expr) bool { return j.source.Of(e) == j.source.Of(args[0]) })
	case operators.LogicalAnd, operators.LogicalOr:
		return j.varies(e) && j.differ(loops.Terms(e, name))
	case operators.In:
		return j.source.Of(args[0]) != j.source.Of(args[1])
	}
	return true
}

// testsRequired reports whether the whole expression tests for a field that is always present. In the shell, such a
// test is allowed.
func (j *judge) testsRequired() bool {
	e := j.is.Expr()
	if j.context.Part == AnyExpression {
		return false
	}
	if isCall(e, operators.LogicalNot) {
		e = e.AsCall().Args()[0]
	}
	return isTest(e) && j.isRequired(e.AsSelect().Operand(), e.AsSelect().FieldName())
}

func (j *judge) referent(e ast.Expr) referent { return j.context.viewOf(j.is.Expr(), e).expr(e) }

func (j *judge) isRequired(operand ast.Expr, field string) bool {
	of := j.referent(operand)
	name, ok := types.Unescape(field)
	return ok && of.schema != nil && slices.Contains(of.schema.Required, name) && !of.schema.Properties[name].Nullable
}

// holds maps comparisons to whether they hold for the order of their operands.
var holds = map[string]func(order int) bool{
	operators.Less:          func(order int) bool { return order < 0 },
	operators.LessEquals:    func(order int) bool { return order <= 0 },
	operators.Greater:       func(order int) bool { return order > 0 },
	operators.GreaterEquals: func(order int) bool { return order >= 0 },
	operators.Equals:        func(order int) bool { return order == 0 },
	operators.NotEquals:     func(order int) bool { return order != 0 },
}

// decidesNothing reports whether a comparison of one of two constants is the same for both: (c ? 1 : 0) > 1.
func decidesNothing(e ast.Expr) bool {
	args, test := e.AsCall().Args(), holds[e.AsCall().FunctionName()]
	for i, arg := range args {
		bound, isInt := intOf(args[1-i])
		if !isInt || test == nil || !isCall(arg, operators.Conditional) {
			continue
		}
		a, isInt := intOf(arg.AsCall().Args()[1])
		b, isIntToo := intOf(arg.AsCall().Args()[2])
		sign := 1 - 2*i // the bound is first, or second
		return isInt && isIntToo && test(sign*cmp.Compare(a, bound)) == test(sign*cmp.Compare(b, bound))
	}
	return false
}

func intOf(e ast.Expr) (n celtypes.Int, ok bool) {
	if e.Kind() == ast.LiteralKind {
		n, ok = e.AsLiteral().(celtypes.Int)
	}
	return n, ok
}

// isNeverNull reports whether e is compared with null but never null. other is the kind of the other operand.
func (j *judge) isNeverNull(e ast.Expr, other kind) bool {
	if other != kindNull {
		return false
	}
	of := j.referent(e)
	return of.schema != nil && !of.schema.Nullable
}

// isMember reports whether a macro tests whether the elements of a list or map are in the same list or map.
func (j *judge) isMember(l loops.Loop) bool {
	return pathTo(l.Body, func(e ast.Expr) bool {
		if !isCall(e, operators.In) {
			return false
		}
		of := e.AsCall().Args()
		return of[0].Kind() == ast.IdentKind && of[0].AsIdent() == l.Variable && j.source.Of(of[1]) == j.source.Of(l.Over)
	}) != nil
}

// differ reports whether no condition is the same as another, or its negation.
func (j *judge) differ(conditions []ast.Expr) bool {
	seen := map[string]bool{}
	for _, condition := range conditions {
		text := strings.TrimPrefix(j.source.Of(condition), "!")
		if seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

func isExclusive(t lex.Token) bool {
	return t.Kind != lex.String && (t.Text == "^" || strings.EqualFold(t.Text, "xor"))
}

// isNumeric reports whether a string can be a number, judged by its schema and its name.
func (j *judge) isNumeric(e ast.Expr) bool {
	of := j.referent(e)
	switch {
	case of.schema == nil || of.decl == nil || of.decl.Kind != types.String || len(of.steps) == 0:
		return true
	case of.schema.Pattern != "":
		form := regexcost.Matcher(of.schema.Pattern)
		if form == nil {
			return true
		}
		numbers, others := []string{"1", "10", "100"}, []string{"10%", "10s", "1Gi", "a"}
		return slices.ContainsFunc(numbers, form.MatchString) && !slices.ContainsFunc(others, form.MatchString)
	case len(EnumStrings(of.schema)) > 0:
		_, err := strconv.ParseFloat(EnumStrings(of.schema)[0], 64)
		return err == nil
	}
	return of.schema.Format == "" && !durationNames.MatchString(of.steps[len(of.steps)-1].Name)
}

// varies reports whether e depends on a variable. In the shell, the whole expression may have no variables.
func (j *judge) varies(e ast.Expr) bool {
	return hasVariable(e) || j.context.Part == AnyExpression && !hasVariable(j.is.Expr())
}

func hasVariable(e ast.Expr) bool {
	return pathTo(e, func(e ast.Expr) bool { return e.Kind() == ast.IdentKind }) != nil
}

// isUnordered reports whether e should not be an operand of <: it is a bool, or a correction converts it to a string,
// and strings have another order than numbers.
func (j *judge) isUnordered(e ast.Expr) bool {
	return j.kindOf(e) == kindBool || isCall(e, "string") && !strings.Contains(j.was, j.source.Of(e))
}

func (j *judge) kindOf(e ast.Expr) kind {
	t, ok := j.is.TypeMap()[e.ID()]
	if !ok {
		return kindAny
	}
	return kindOf((*cel.Type)(t).String())
}

func mentions(e ast.Expr, variable string) bool {
	return pathTo(e, func(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == variable }) != nil
}

// keepsTests reports whether the tests of presence are still there. A test of a map's key or a list's item that was
// written with has() can become an in or a size().
func (j *judge) keepsTests(was string) bool {
	written, before, tests, after := 0, 0, 0, 0
	tokens := lex.Tokens([]rune(was))
	for i, t := range tokens {
		switch {
		case t.Kind != lex.Ident:
		case t.Text == "has" && i+1 < len(tokens) && tokens[i+1].Text == "(" && (i == 0 || tokens[i-1].Text != "."):
			written++
		case t.Text == "in", t.Text == "size", t.Text == "hasValue":
			before++
		}
	}
	if written == 0 {
		return true
	}
	ast.PreOrderVisit(j.is.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case isTest(e):
			tests++
		case isCall(e, operators.In), isCall(e, "size"), isCall(e, "hasValue"):
			after++
		}
	}))
	return tests+max(after-before, 0) >= written
}
