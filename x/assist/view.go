package assist

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
)

// view is an expression, which may be incomplete, seen from one of its nodes, with the variables of
// the enclosing macros in scope.
type view struct {
	resolver
	env *cel.Env
	// path leads from the root to the node. It is empty if no node matched.
	path []ast.Expr
	// loops holds the macros whose variables are in scope at the node, the outermost first.
	loops []macroAround
}

type macroAround struct {
	of ast.ComprehensionExpr
	// names holds its variables, an index or key before the value.
	names []string
	// binds is set for a macro that does not iterate but binds a single value, such as optMap.
	binds bool
}

func (p *Context) tree(src string) (*cel.Env, *ast.AST) {
	env := p.env()
	if env == nil {
		return nil, nil
	}
	return env, celenv.ParseTolerant(env, src)
}

func (p *Context) view(env *cel.Env, root ast.Expr, match func(ast.Expr) bool) *view {
	v := &view{resolver: resolver{context: p, vars: map[string]referent{}}, env: env, path: pathTo(root, match)}
	for i := 0; i+1 < len(v.path); i++ {
		if v.path[i].Kind() == ast.ComprehensionKind {
			v.enter(v.path[i].AsComprehension(), v.path[i+1])
		}
	}
	return v
}

func (p *Context) viewOf(root, e ast.Expr) *view {
	return p.view(p.env(), root, func(at ast.Expr) bool { return at.ID() == e.ID() })
}

// enter descends from macro c to its child part and declares the variables that are in scope there.
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
			return // the result of an iterating macro, which only sees the accumulator
		}
		l.names, l.binds = []string{c.AccuVar()}, true
		v.vars[c.AccuVar()] = v.expr(c.AccuInit())
	default:
		return
	}
	v.loops = append(v.loops, l)
}

func (r *resolver) loop(c ast.ComprehensionExpr) {
	over := r.expr(c.IterRange())
	switch {
	case c.HasIterVar2():
		r.vars[c.IterVar()], r.vars[c.IterVar2()] = referent{}, over.elements()
	case over.decl != nil && over.decl.Kind == types.Map:
		r.vars[c.IterVar()] = referent{} // a key
	default:
		r.vars[c.IterVar()] = over.elements()
	}
}

func (v *view) typeOf(e ast.Expr) *cel.Type {
	if f := v.expr(e); f.decl != nil && !mayBeOptional(e) {
		if t := celenv.CELType(f.decl); t != nil {
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

// maxLoops limits how many enclosing macros check copies. Each wraps the type in a list, and the
// checker's time grows with the cube of their depth.
const maxLoops = 10

// check checks e inside copies of the macros around the node. For each iterating macro, the result
// type is wrapped in a list. It returns nil if the copy does not type-check, or if there are more
// than maxLoops macros.
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
	return celenv.CheckTree(v.env, e)
}

// mayBeOptional reports whether e may be an optional although the path that it reads is declared.
func mayBeOptional(e ast.Expr) bool {
	return pathTo(e, func(e ast.Expr) bool {
		return isCall(e, operators.OptSelect) || isCall(e, operators.OptIndex) || e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction() && strings.HasPrefix(e.AsCall().FunctionName(), "opt")
	}) != nil
}

func isCall(e ast.Expr, name string) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == name
}

func (v *view) above(steps int) ast.Expr {
	if i := len(v.path) - 1 - steps; i >= 0 {
		return v.path[i]
	}
	return nil
}

// read returns the operand and field name of a selection, or nil and "" for other nodes.
func read(e ast.Expr) (of ast.Expr, name string, optional bool) {
	switch {
	case e.Kind() == ast.SelectKind:
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), false
	case isCall(e, operators.OptSelect) && len(e.AsCall().Args()) == 2:
		if text, ok := textIn(e.AsCall().Args()[1]); ok {
			return e.AsCall().Args()[0], text, true
		}
	}
	return nil, "", false
}

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

// pathTo returns the path from e to the first node that matches in depth-first order, or nil.
func pathTo(e ast.Expr, match func(ast.Expr) bool) []ast.Expr {
	var path []ast.Expr
	var find func(e ast.Expr) bool
	find = func(e ast.Expr) bool {
		path = append(path, e)
		if match(e) {
			return true
		}
		for _, part := range loops.Children(e) {
			if find(part) {
				return true
			}
		}
		path = path[:len(path)-1]
		return false
	}
	if !find(e) {
		return nil
	}
	return path
}

var factory = ast.NewExprFactory()

// folded returns a comprehension that collects the values of each in a list, with the variables of
// loop in scope.
func folded(loop ast.ComprehensionExpr, each ast.Expr) ast.Expr {
	step := factory.NewCall(0, operators.Add, factory.NewAccuIdent(0), factory.NewList(0, []ast.Expr{each}, nil))
	return factory.NewComprehensionTwoVar(0, loop.IterRange(), loop.IterVar(), loop.IterVar2(), factory.AccuIdentName(),
		factory.NewList(0, nil, nil), factory.NewLiteral(0, celtypes.True), step, factory.NewAccuIdent(0))
}

// bound returns the expression result with the variable of a macro such as optMap in scope.
func bound(by ast.ComprehensionExpr, result ast.Expr) ast.Expr {
	return factory.NewComprehension(0, by.IterRange(), by.IterVar(), by.AccuVar(), by.AccuInit(), by.LoopCondition(), by.LoopStep(), result)
}
