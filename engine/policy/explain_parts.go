package policy

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/internal/kubecel"
)

// How it works: each part of an expression is planned as a program of its own, with the variables of macros as further
// roots. To explain all() or exists(), its test is evaluated for each element up to the one that ended it, and then
// explained for that element.

const (
	// maxSteps limits the evaluations of parts, and maxElementRoots the variables of macros that have values.
	maxSteps        = 2000
	maxElementRoots = 8
)

func (p *program) withElements(x *expression) *program {
	known := map[string]bool{}
	for _, r := range p.roots {
		known[r.Name] = true
	}
	out := *p
	out.roots = p.roots[:len(p.roots):len(p.roots)]
	ast.PreOrderVisit(x.checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		l, ok := loops.Of(e)
		for _, name := range []string{l.Index, l.Variable} {
			if ok && name != "" && !known[name] && len(out.roots) < len(p.roots)+maxElementRoots {
				known[name] = true
				out.roots = append(out.roots, celenv.Root{Name: name, Type: cel.DynType})
			}
		}
	}))
	return &out
}

func (r *run) explain(req *Request, of *expression) []Value {
	r.program.compiler.Lock()
	defer r.program.compiler.Unlock()
	c := &valueCollector{
		run: r, roots: map[string]bool{}, seen: map[string]bool{}, explained: map[string]bool{}, steps: maxSteps,
	}
	for _, root := range r.program.roots[:authorizerRoot] {
		c.roots[root.Name] = true
	}
	if req.Operation == OperationConnect {
		c.connects = req.Kind.Kind
	}
	c.expression(of)
	return c.values
}

type valueCollector struct {
	run      *run
	of       *expression
	roots    map[string]bool
	source   *lex.Source
	programs map[int64]*eval.Program // by the ID of the part; nil if it cannot be planned
	values   []Value
	// connects is the kind of the object of a connection, such as PodExecOptions, or "".
	connects string
	// failed is set if the expression fails, problems counts the values that fail, and depth the variables around the
	// expression.
	failed          bool
	problems, depth int
	// seen holds the sources of parts that are not added again.
	seen map[string]bool
	// explained holds the variables that are explained, which are not explained again.
	explained map[string]bool
	steps     int
}

// value evaluates a part. It returns an error value if the part fails, and nil if its value is not known.
func (c *valueCollector) value(e ast.Expr) ref.Val {
	program, ok := c.programs[e.ID()]
	if !ok {
		compiler := c.run.program.compiler
		if c.of.part == partMutation {
			compiler = compiler.mutations
		}
		program, _ = compiler.planner.PlanPart(c.of.checked, e, c.run.program.roots, compiler.settings.Limits.PerCall)
		c.programs[e.ID()] = program
	}
	if c.steps--; program == nil || c.steps < 0 {
		return nil
	}
	out := c.run.evaluate(&expression{program: program})
	if out.Err != nil {
		c.run.note(out.Err)
		return celtypes.WrapErr(out.Err)
	}
	if celtypes.IsUnknown(out.Value) {
		return nil
	}
	return out.Value
}

func (c *valueCollector) expression(of *expression) {
	root := of.checked.NativeRep().Expr()
	c.of, c.source, c.programs = of, lex.NewSource(of.text, of.checked), map[int64]*eval.Program{}
	c.failed = celtypes.IsError(c.value(root))
	c.visit(root)
}

func (c *valueCollector) visit(e ast.Expr) {
	problems := c.problems
	if c.selects(e) {
		v, name := c.value(e), variableIn(e)
		asks, decision := c.asks(name)
		decision = decision || v != nil && v.Type().TypeName() == kubecel.DecisionType.TypeName()
		if !decision {
			c.add(c.source.Of(e), e, v)
		}
		if decision || c.failed && celtypes.IsError(v) || v == celtypes.False && asks {
			c.variable(name)
		}
		return
	}
	c.visitParts(e)
	if c.failed && c.problems == problems && (e.Kind() == ast.CallKind || e.Kind() == ast.SelectKind) {
		if v := c.value(e); celtypes.IsError(v) {
			c.add(c.source.Of(e), e, v)
		}
	}
}

// maxVariables limits the variables that are explained inside of each other.
const maxVariables = 8

// variableIn returns the name of the variable below which e selects something, or "".
func variableIn(e ast.Expr) string {
	for {
		switch e.Kind() {
		case ast.SelectKind:
			of := e.AsSelect()
			if e = of.Operand(); e.Kind() == ast.IdentKind && e.AsIdent() == "variables" {
				return of.FieldName()
			}
		case ast.CallKind:
			e = e.AsCall().Args()[0]
		default:
			return ""
		}
	}
}

// asks reports whether a variable checks an access, and whether it is the decision about it.
func (c *valueCollector) asks(name string) (asks, decision bool) {
	i, ok := c.run.program.variableIndex[name]
	if !ok || c.run.program.parts[partVariable][i].checked == nil {
		return false, false
	}
	of := c.run.program.parts[partVariable][i].checked.NativeRep()
	ast.PostOrderVisit(of.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		decision = of.GetType(e.ID()).TypeName() == kubecel.DecisionType.TypeName() // the last one is the root
		asks = asks || decision
	}))
	return asks, decision
}

func (c *valueCollector) variable(name string) {
	i, ok := c.run.program.variableIndex[name]
	if !ok || c.depth == maxVariables || c.steps <= 0 || c.explained[name] || c.run.program.parts[partVariable][i].checked == nil {
		return
	}
	c.explained[name] = true
	inner := *c
	inner.depth++
	inner.expression(c.run.program.parts[partVariable][i])
	c.values, c.steps = inner.values, inner.steps
}

func (c *valueCollector) visitParts(e ast.Expr) {
	switch e.Kind() {
	case ast.ComprehensionKind:
		c.loop(e)
		return
	case ast.CallKind:
		if c.call(e) {
			return
		}
	}
	for _, child := range ast.NavigateExpr(nil, e).Children() {
		c.visit(child)
	}
}

// call visits the operands that decided the result of an operator. If it returns false, the caller visits all.
func (c *valueCollector) call(e ast.Expr) bool {
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		alone := ref.Val(celtypes.Bool(e.AsCall().FunctionName() == operators.LogicalOr))
		for _, arg := range args {
			if c.value(arg) == alone {
				c.visit(arg)
				return true
			}
		}
		return false
	case operators.Conditional:
		c.visit(args[0])
		switch c.value(args[0]) {
		case celtypes.True:
			c.visit(args[1])
		case celtypes.False:
			c.visit(args[2])
		}
		return true
	case "check": // of the authorizer
		if e.AsCall().IsMemberFunction() {
			c.access(e)
		}
		return false
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		for _, arg := range args {
			if isComputed(arg) {
				switch v := c.value(arg).(type) { // not a string, which can be a secret in another form
				case celtypes.Int, celtypes.Uint, celtypes.Double, celtypes.Bool, celtypes.Duration, celtypes.Timestamp:
					c.add(c.source.Of(arg), arg, v)
				}
			}
			c.visit(arg)
		}
		return true
	}
	return false
}

// access adds the decision about the access that e checks.
func (c *valueCollector) access(e ast.Expr) {
	a := &c.run.authority
	a.explains, a.asked = true, nil
	c.value(e)
	a.explains = false
	if a.asked != nil && a.answered.Known {
		c.put(Value{Expression: c.source.Of(e), Offset: c.offset(e), Problem: a.asked.explain(a.answered)})
	}
}

func isComputed(e ast.Expr) (reads bool) {
	if e.Kind() != ast.CallKind && e.Kind() != ast.ComprehensionKind {
		return false
	}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) { reads = reads || e.Kind() == ast.IdentKind }))
	return reads
}

// loop visits the test of a macro for the element that settled its value, or else the reads of the macro.
func (c *valueCollector) loop(e ast.Expr) {
	l, ok := loops.Of(e)
	if ok && l.Settled != nil && c.element(l, c.value(e)) {
		return
	}
	c.visitReads(e)
}

// element visits the test of a macro for the first element with the value whole, and reports whether it found one.
func (c *valueCollector) element(l loops.Loop, whole ref.Val) bool {
	variable, index := c.rootOf(l.Variable), c.rootOf(l.Index)
	over := c.value(l.Over)
	list, ok := over.(traits.Iterable)
	if variable < 0 || transforms(l.Over) || l.Index != "" && index < 0 || !ok || whole != l.Settled && !celtypes.IsError(whole) {
		return false
	}
	set := func(root int, v ref.Val) {
		if root >= 0 {
			c.run.activation.Set(root, v)
		}
	}
	defer set(variable, nil)
	defer set(index, nil)
	entries, isMap := over.(traits.Mapper)
	i := 0
	for it := list.Iterator(); it.HasNext() == celtypes.True && c.steps > 0; i++ {
		item := it.Next()
		set(index, celtypes.Int(i))
		text := fmt.Sprintf("%s (%s[%d])", l.Variable, operand(l.Over, c.source.Of(l.Over)), i)
		if isMap {
			text = l.Variable
		}
		key := item
		if isMap && l.Index != "" {
			set(index, key)
			item = entries.Get(key)
		}
		set(variable, item)
		if v := c.value(l.Body); v != whole && !(celtypes.IsError(v) && celtypes.IsError(whole)) {
			continue
		}
		if isMap && l.Index != "" {
			c.add(l.Index, nil, key)
		}
		c.add(text, nil, item)
		for _, name := range []string{l.Variable, l.Index} {
			c.roots[name] = name != ""
			defer delete(c.roots, name)
		}
		c.seen[l.Variable] = true
		c.visit(l.Body)
		return true
	}
	return false
}

// operand returns text, which is the source of e, in parentheses if it needs them before an index.
func operand(e ast.Expr, text string) string {
	if e.Kind() == ast.CallKind {
		if _, isOperator := operators.FindReverse(e.AsCall().FunctionName()); isOperator && e.AsCall().FunctionName() != operators.Index {
			return "(" + text + ")"
		}
	}
	return text
}

// transforms reports whether e calls a function that may change strings: callers hide only secrets whose value is
// unchanged.
func transforms(e ast.Expr) (does bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		name := e.AsCall().FunctionName()
		_, isOperator := operators.FindReverse(name)
		does = does || !isOperator && name != "orValue" && name != "dyn" && name != operators.OptSelect && name != operators.OptIndex
	}))
	return does
}

func (c *valueCollector) rootOf(name string) int {
	for i := rootCount; i < len(c.run.program.roots); i++ {
		if c.run.program.roots[i].Name == name {
			return i
		}
	}
	return -1
}

// add adds the value of a part once. e is nil for an element.
func (c *valueCollector) add(text string, e ast.Expr, of ref.Val) {
	if of == nil || c.seen[text] {
		return
	}
	v := Value{Expression: text, Offset: c.offset(e)}
	if err, failed := of.(*celtypes.Err); failed {
		v.Problem = err.Error()
		v.Hint = c.hint(e, v.Problem)
		c.problems++
	} else if _, fits := eval.TextSize(of, maxValueBytes); fits {
		v.Value = expr.Native(of)
	} else {
		v.Problem = "too large to show"
	}
	if absent, test := strings.CutPrefix(text, "has("); test && of == celtypes.False {
		c.seen[strings.TrimSuffix(absent, ")")] = true
	}
	c.put(v)
}

// offset returns -1 if the position of e in the explained expression is not known.
func (c *valueCollector) offset(e ast.Expr) int {
	if e != nil && c.depth == 0 {
		if from, _, ok := c.source.Range(e); ok {
			return from
		}
	}
	return -1
}

func (c *valueCollector) put(v Value) {
	if v.Expression == "" || c.seen[v.Expression] || len(c.values) == maxValues {
		return
	}
	c.seen[v.Expression] = true
	c.values = append(c.values, v)
}
