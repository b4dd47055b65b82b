package eval

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/loops"
)

// How it works: a program consists of closures, which cannot be inspected. So Dump plans the
// expression again, as PlanWith would, and records the code of each node.

// Dump returns the plan of an expression as PlanWith would make it, for people who work on the
// evaluator. Each node is a line with its form and its source, indented below its parent. For code
// that is not typed, the form includes how it computes its value:
//
//	bool  self.a == 1 && f(self.b)
//	  bool  self.a == 1
//	    int  self.a
//	    int  1
//	  boxed call  f(self.b)
//	    string  self.b
func (p *Planner) Dump(checked *cel.Ast, roots []celenv.Root) (string, error) {
	tree := checked.NativeRep()
	one := p.planner(tree, roots)
	one.notes = map[int64]*code{}
	if _, err := one.plan(tree.Expr()); err != nil {
		return "", err
	}
	d := dump{notes: one.notes, info: tree.SourceInfo()}
	d.node(tree.Expr(), 0)
	return d.out.String(), nil
}

type dump struct {
	notes map[int64]*code
	info  *ast.SourceInfo
	out   strings.Builder
}

// A path counts as a single node.
func (d *dump) node(e ast.Expr, depth int) {
	if c := d.notes[e.ID()]; c != nil {
		fmt.Fprintf(&d.out, "%s%s  %s\n", strings.Repeat("  ", depth), c.form(), d.text(e))
		depth++
	}
	for _, part := range parts(e) {
		d.node(part, depth)
	}
}

// If e contains a macro, text returns a short form; the macro has its own line below.
func (d *dump) text(e ast.Expr) string {
	if text, err := parser.Unparse(e, d.info); err == nil {
		return strings.Join(strings.Fields(text), " ")
	}
	switch e.Kind() {
	case ast.ComprehensionKind:
		x := e.AsComprehension()
		name := "macro"
		if m, ok := loops.Of(e); ok && m.Name != "" {
			name = m.Name
		}
		return fmt.Sprintf("%s(%s)", name, strings.Trim(x.IterVar()+" "+x.IterVar2(), " "))
	case ast.CallKind:
		return strings.Trim(e.AsCall().FunctionName(), "_@") + "(...)"
	}
	return "..."
}

func parts(e ast.Expr) (all []ast.Expr) {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.CallKind:
		if call := e.AsCall(); call.IsMemberFunction() {
			return append([]ast.Expr{call.Target()}, call.Args()...)
		}
		return e.AsCall().Args()
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			all = append(all, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			all = append(all, field.AsStructField().Value())
		}
	case ast.ComprehensionKind:
		m := e.AsComprehension()
		return []ast.Expr{m.IterRange(), m.AccuInit(), m.LoopCondition(), m.LoopStep(), m.Result()}
	}
	return all
}

func (c *code) form() string {
	text := c.kind.String()
	switch {
	case c.isConst():
		text = "constant"
	case c.strategy != typed:
		text += " " + c.strategy.String()
	}
	switch {
	case c.kind == boxedKind && c.list != nil:
		text += ", items typed"
	case c.kind == boxedKind && c.raw != nil:
		text += ", JSON as it is"
	}
	return text
}

var kindTexts = [...]string{"boxed", "bool", "int", "string", "json", "list", "optional"}

func (k kind) String() string { return kindTexts[k] }

var strategyTexts = [...]string{"typed", "call", "equality", "path", "fold", "loop", "literal", "choice", "value"}

func (h strategy) String() string { return strategyTexts[h] }
