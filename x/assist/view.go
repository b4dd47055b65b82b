package assist

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/types"
)

// view is an expression, whole or half written, as one of its nodes sees it: with the
// macros around that.
type view struct {
	resolver
	env *cel.Env
	// path leads from the root to the node; it is empty where there is none.
	path []ast.Expr
	// loops are the macros whose variables the node sees, with the outermost first.
	loops []macroAround
}

// macroAround is a macro that an expression stands in.
type macroAround struct {
	of ast.ComprehensionExpr
	// names are its variables, an index or key before the value.
	names []string
	// binds is true for one that goes over nothing and names a single value.
	binds bool
}

// tree is an expression's, with what a place's own names stand for; nil where the
// schema is not visible to rules.
func (p *Place) tree(src string) (*cel.Env, *ast.AST) {
	env := p.env()
	if env == nil {
		return nil, nil
	}
	tree := types.ParseTolerant(env, src)
	for _, named := range p.Named {
		text, err := p.expand(named.Text)
		if err != nil {
			continue
		}
		stands, err := types.Parse(env, text)
		if err != nil {
			continue
		}
		ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
			if e.Kind() == ast.IdentKind && e.AsIdent() == named.Text {
				e.SetKindCase(factory.CopyExpr(stands.NativeRep().Expr()))
			}
		}))
	}
	return env, tree
}

// view is what the first node that matches sees of a tree.
func (p *Place) view(env *cel.Env, root ast.Expr, match func(ast.Expr) bool) *view {
	v := &view{resolver: resolver{place: p, vars: map[string]found{}}, env: env, path: pathTo(root, match)}
	for i := 0; i+1 < len(v.path); i++ {
		if v.path[i].Kind() == ast.ComprehensionKind {
			v.enter(v.path[i].AsComprehension(), v.path[i+1])
		}
	}
	return v
}

// enter goes from a macro to a part of it.
func (v *view) enter(c ast.ComprehensionExpr, part ast.Expr) {
	l := macroAround{of: c, names: []string{c.IterVar()}}
	switch part.ID() {
	case c.LoopStep().ID():
		v.loop(c)
		if c.HasIterVar2() {
			l.names = append(l.names, c.IterVar2())
		}
	case c.Result().ID():
		if strings.HasPrefix(c.AccuVar(), "@") {
			return // the accumulator of a loop
		}
		l.names, l.binds = []string{c.AccuVar()}, true
		v.vars[c.AccuVar()] = v.expr(c.AccuInit())
	default:
		return
	}
	v.loops = append(v.loops, l)
}

// loop declares the variables of a macro that goes over something.
func (r *resolver) loop(c ast.ComprehensionExpr) {
	over := r.expr(c.IterRange())
	switch {
	case c.HasIterVar2():
		r.vars[c.IterVar()], r.vars[c.IterVar2()] = found{}, over.elements()
	case over.decl != nil && over.decl.Kind == types.Map:
		r.vars[c.IterVar()] = found{} // a key
	default:
		r.vars[c.IterVar()] = over.elements()
	}
}

// typeOf is the type of an expression that the node sees, by its declaration or by the
// checker; nil where it has none.
func (v *view) typeOf(e ast.Expr) *cel.Type {
	if f := v.expr(e); f.decl != nil && !asksOptional(e) {
		if t := f.decl.CELType(); t != nil {
			return t
		}
	}
	checked := v.check(e)
	if checked == nil {
		return nil
	}
	t := checked.OutputType()
	for _, l := range v.loops {
		if !l.binds && len(t.Parameters()) == 1 {
			t = t.Parameters()[0]
		}
	}
	return t
}

// maxLoops is how many macros around an expression are made anew: each puts its type in
// a list, which the checker takes the cube of their depth for.
const maxLoops = 10

// check checks an expression with the macros around the node: what it gives is in a list
// for each that goes over something. It is nil where it does not check.
func (v *view) check(e ast.Expr) *cel.Ast {
	if len(v.loops) > maxLoops {
		return nil
	}
	for i := len(v.loops) - 1; i >= 0; i-- {
		if l := v.loops[i]; l.binds {
			e = bound(l.of, e)
		} else {
			e = folded(l.of, e)
		}
	}
	return types.CheckTree(v.env, e)
}

// asksOptional is true of an expression that may be an optional though what it reads
// is declared.
func asksOptional(e ast.Expr) bool {
	return pathTo(e, func(e ast.Expr) bool {
		return isCall(e, operators.OptSelect) || isCall(e, operators.OptIndex) || e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction() && strings.HasPrefix(e.AsCall().FunctionName(), "opt")
	}) != nil
}

// isCall is true of a call of a function or operator.
func isCall(e ast.Expr, name string) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == name
}

// above is the node so many steps above the one that the view is of; nil for none.
func (v *view) above(steps int) ast.Expr {
	if i := len(v.path) - 1 - steps; i >= 0 {
		return v.path[i]
	}
	return nil
}

// read is what a selection is of, and the name that it selects; nil for other nodes.
func read(e ast.Expr) (of ast.Expr, name string, optional bool) {
	switch {
	case e.Kind() == ast.SelectKind:
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), false
	case isCall(e, operators.OptSelect) && len(e.AsCall().Args()) == 2:
		if arg := e.AsCall().Args()[1]; arg.Kind() == ast.LiteralKind {
			if text, ok := arg.AsLiteral().(celtypes.String); ok {
				return e.AsCall().Args()[0], string(text), true
			}
		}
	}
	return nil, "", false
}

// dotted is the name that identifiers and dots make up; "" for anything else.
func dotted(e ast.Expr) string {
	if e.Kind() == ast.IdentKind {
		return e.AsIdent()
	}
	if of, name, optional := read(e); of != nil && !optional {
		if before := dotted(of); before != "" {
			return before + "." + name
		}
	}
	return ""
}
