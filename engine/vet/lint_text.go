package vet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/internal/notation"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/types"
)

// How it works: a comparison of strings is reported if the schema, the other operand, or the name of
// the field shows the kind of the values (lint_kind.go), and if the schema allows two strings
// for which the result differs from a comparison of the values. These two strings are the example.

const (
	maxComparisons    = 16
	maxAllComparisons = 500
)

type textOperand struct {
	path    *exprPath // nil for a literal
	literal string
	source  string
}

type textComparison struct {
	e      ast.Expr
	op     string // as in package operators
	a, b   textOperand
	list   []string // of in; b then has only a source
	kind   notation.Kind
	x, y   string // the example values
	result bool   // of the comparison as text
}

// textOrder finds strings that are ordered as text, although they represent quantities, versions, or other values.
func textOrder(in *inspection) *Lint {
	return in.textProblem(operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals)
}

// textEquality finds quantities and durations that are compared as text, such as "1Gi" and "1024Mi".
func textEquality(in *inspection) *Lint {
	return in.textProblem(operators.Equals, operators.NotEquals, operators.In)
}

func (in *inspection) textProblem(ops ...string) *Lint {
	var found []*textComparison
	checked := 0
	in.walk.visit(in.expr.ast.NativeRep().Expr(), func(e ast.Expr, _ *exprPath) {
		op, args := operation(e)
		if checked >= maxComparisons || in.comparisons >= maxAllComparisons || len(args) != 2 || !slices.Contains(ops, op) {
			return
		}
		c := in.comparison(e, op, args)
		if c == nil {
			return
		}
		checked++
		in.comparisons++
		if in.setKind(c) && in.example(c) && in.sources(c, args) {
			found = append(found, c)
		}
	})
	if len(found) == 0 {
		return nil
	}
	var edits []edit
	p := &Lint{}
	for _, c := range found {
		if text := c.fix(); text != "" {
			if e, ok := in.replaced(c.e, in.parenthesized(c.e, text)); ok {
				edits = append(edits, e)
			}
		}
		p.Examples = append(p.Examples, c.examples()...)
	}
	if len(edits) > 0 {
		p.Fix = in.fixed(edits...)
	}
	p.Message = found[0].message(p.Fix != "")
	if more := len(found) - 1; more > 0 {
		p.Message += fmt.Sprintf(" (and %d more in this rule)", more)
	}
	return p
}

func isText(p *exprPath) bool {
	return p != nil && p.decl != nil && p.node != nil && (p.decl.Kind == types.String || p.decl.Kind == types.IntOrString)
}

func (in *inspection) comparison(e ast.Expr, op string, args []ast.Expr) *textComparison {
	c := &textComparison{e: e, op: op}
	var ok, ok2 bool
	c.a, ok = in.textOperand(args[0])
	if op == operators.In {
		c.list, ok2 = literals(args[1])
		ok2 = ok2 && len(c.list) > 0
	} else {
		c.b, ok2 = in.textOperand(args[1])
	}
	if !ok || !ok2 || c.a.path == nil && c.b.path == nil {
		return nil
	}
	return c
}

// setKind returns false for a comparison as text that is right: of values that have no kind, and of equal values that
// are spelled in the same way.
func (in *inspection) setKind(c *textComparison) bool {
	if !c.ordered() && comparesIdentity(c) {
		return false
	}
	c.kind = in.kindOf(c)
	return c.kind != notation.None && (c.ordered() || c.hasSpellings())
}

func (c *textComparison) ordered() bool {
	return c.op != operators.In && c.op != operators.Equals && c.op != operators.NotEquals
}

// If values have units, authors expect several spellings of a value.
func (c *textComparison) hasSpellings() bool {
	if c.kind != notation.Quantity && c.kind != notation.Duration {
		return false
	}
	return !slices.ContainsFunc(c.texts(), func(text string) bool { return !c.kind.Is(text) })
}

// comparesIdentity reports whether a comparison for equality is about unchanged text: it reads oldSelf, or the same
// field of two elements.
func comparesIdentity(c *textComparison) bool {
	for _, p := range []*exprPath{c.a.path, c.b.path} {
		if p != nil && p.root().path == types.OldSelf {
			return true
		}
	}
	return c.a.path != nil && c.b.path != nil && engine.FormatPath(c.a.path.steps()) == engine.FormatPath(c.b.path.steps())
}

func (in *inspection) textOperand(e ast.Expr) (o textOperand, ok bool) {
	if e.Kind() == ast.LiteralKind {
		o.literal, ok = e.AsLiteral().Value().(string)
		return o, ok
	}
	o.path = in.walk.fieldOf(e)
	return o, isText(o.path)
}

// sources returns false if a macro generated an operand.
func (in *inspection) sources(c *textComparison, args []ast.Expr) bool {
	var ok, ok2 bool
	c.a.source, ok = in.text(args[0])
	c.b.source, ok2 = in.text(args[1])
	return ok && ok2
}

func literals(e ast.Expr) (list []string, ok bool) {
	if e.Kind() != ast.ListKind {
		return nil, false
	}
	for _, item := range e.AsList().Elements() {
		text, ok := item.AsLiteral().(celtypes.String)
		if !ok {
			return nil, false
		}
		list = append(list, string(text))
	}
	return list, true
}

func (in *inspection) example(c *textComparison) bool {
	xs := in.candidates(&c.a, c)
	ys := c.list
	if c.list == nil {
		ys = in.candidates(&c.b, c)
	}
	for _, x := range xs {
		for _, y := range ys {
			order, ok := c.kind.Compare(x, y)
			asText, asValue := holds(c.op, strings.Compare(x, y)), holds(c.op, order)
			if ok && asText != asValue && !slices.Contains(c.list, x) {
				c.x, c.y, c.result = x, y, asText
				return true
			}
		}
	}
	return false
}

func holds(op string, order int) bool {
	switch op {
	case operators.Less:
		return order < 0
	case operators.LessEquals:
		return order <= 0
	case operators.Greater:
		return order > 0
	case operators.GreaterEquals:
		return order >= 0
	case operators.NotEquals:
		return order != 0
	}
	return order == 0
}

func (c *textComparison) examples() (list []LintExample) {
	add := func(o *textOperand, value string) {
		if o.path == nil {
			return
		}
		path := engine.FormatPath(o.path.steps())
		for i := range list {
			if list[i].Path == path {
				list[i].Values = append(list[i].Values, value)
				return
			}
		}
		list = append(list, LintExample{path, []string{value}})
	}
	add(&c.a, c.x)
	add(&c.b, c.y)
	return list
}

func (c *textComparison) message(fixes bool) string {
	op, _ := operators.FindReverse(c.op)
	compared := short(fmt.Sprintf("%s %s %s", c.a.source, op, c.b.source))
	text := fmt.Sprintf("%s compares %s as text: %q %s %q is %v", compared, c.kind, short(c.x), op, short(c.y), c.result)
	if c.op == operators.In {
		text = fmt.Sprintf("%s compares %s as text: it is false for %q, the same value as %q", compared, c.kind, short(c.x), short(c.y))
	}
	fix := c.fix()
	switch {
	case fix == "":
		return text + "; no function orders " + c.kind.String() + ": compare their parts as numbers"
	case !fixes:
		return text + "; the vetted Kubernetes versions have no function that compares " + c.kind.String()
	}
	text += "; write " + short(fix)
	if minor := functions[c.kind].since; minor > 0 {
		text += fmt.Sprintf(" (from Kubernetes 1.%d)", minor)
	}
	if c.mayFail() {
		text += ", which fails if the text has another form"
	}
	return text
}

const maxShown = 300

func short(text string) string { return preview.Middle(lex.Flat(text), maxShown) }
