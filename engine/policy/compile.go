package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/internal/kubecel"
)

// An expression is a compiled expression. A nil expression is absent.
type expression struct {
	name    string // of a variable or matchCondition
	source  string
	program *eval.Program // nil if it does not compile
	// failure is the server's error if the expression does not compile.
	failure string
	// checked is kept for Explain and Watch only.
	checked *cel.Ast
	// observer, if not nil, observes the evaluations.
	observer ExpressionObserver
}

// An expressionReport is called for an expression that does not compile. offset is the position of the mistake in
// code points, or 0.
type expressionReport func(path, detail string, offset int)

// A compiler compiles the expressions of a policy or webhook.
type compiler struct {
	settings settings
	roots    []celenv.Root
	scope    *celenv.Scope
	planner  *eval.Planner
	report   expressionReport
	keep     bool // keep the checked expressions
	// uses marks the roots that an expression uses, and readsNamespace is as in program.
	uses           [rootCount]bool
	readsNamespace bool
}

func newCompiler(s settings, roots []celenv.Root, report expressionReport) (*compiler, error) {
	scope, err := s.env.Scope()
	if err != nil {
		return nil, err
	}
	return &compiler{settings: s, roots: roots, scope: scope, planner: eval.NewPlanner(scope.Env()).ForVersion(s.version), report: report}, nil
}

// compile compiles an expression that must have one of the given types, or any type if there are
// none. It reports an expression that does not compile.
func (c *compiler) compile(path, source string, roots []celenv.Root, want ...*cel.Type) (*expression, *cel.Type) {
	x := &expression{source: source}
	checked, err := c.scope.CompileWith(declared(roots), source)
	var complex *celenv.ComplexError
	var issues *celenv.IssuesError
	switch {
	case errors.As(err, &complex):
		x.program = eval.Overworked(err.Error())
		c.report(path, err.Error(), 0)
		return x, nil
	case errors.As(err, &issues):
		x.failure = "compilation failed: " + err.Error()
		c.report(path, x.failure, issues.Offset(0))
		return x, nil
	case err != nil:
		return c.fail(x, path, err.Error()), nil
	}
	got := checked.OutputType()
	if !isOneOf(got, want) {
		return c.fail(x, path, mistyped(got, want)), nil
	}
	if x.program, err = c.planner.PlanWith(checked, roots, c.settings.perCall); err != nil {
		x.program = nil
		return c.fail(x, path, "program instantiation failed: "+err.Error()), nil
	}
	if c.keep {
		x.checked = checked
	}
	for i, r := range roots {
		c.uses[i] = c.uses[i] || expr.Mentions(checked, r.Name)
	}
	c.readsNamespace = c.readsNamespace || readsNamespace(checked)
	return x, got
}

// readsNamespace reports whether an expression reads more of namespaceObject than metadata.name.
func readsNamespace(checked *cel.Ast) bool {
	is := func(e ast.Expr, path ...string) bool {
		for _, name := range path {
			if e.Kind() != ast.SelectKind || e.AsSelect().FieldName() != name {
				return false
			}
			e = e.AsSelect().Operand()
		}
		return e.Kind() == ast.IdentKind && e.AsIdent() == "namespaceObject"
	}
	others := 0
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case is(e):
			others++
		case is(e, "name", "metadata"):
			others--
		}
	}))
	return others > 0
}

func (c *compiler) fail(x *expression, path, failure string) *expression {
	x.failure = failure
	c.report(path, failure, 0)
	return x
}

// declared returns the roots that expressions can use.
func declared(roots []celenv.Root) []celenv.Root {
	list := make([]celenv.Root, 0, len(roots))
	for _, r := range roots {
		if r.Name != undeclaredName {
			list = append(list, r)
		}
	}
	return list
}

func isOneOf(got *cel.Type, want []*cel.Type) bool {
	return len(want) == 0 || slices.ContainsFunc(want, got.IsExactType)
}

func mistyped(got *cel.Type, want []*cel.Type) string {
	if len(want) == 1 {
		return fmt.Sprintf("must evaluate to %v but got %v", want[0], got)
	}
	return fmt.Sprintf("must evaluate to one of %v but got %v", want, got)
}

// A program holds the compiled expressions of a policy or webhook.
type program struct {
	roots []celenv.Root
	uses  [rootCount]bool
	// readsNamespace is set if an expression reads more of namespaceObject than metadata.name.
	readsNamespace bool

	conditions  []*expression
	variables   []*expression
	validations []*expression
	messages    []*expression // nil items have no messageExpression
	annotations []*expression
	mutations   []*expression

	// variableNames lists each name once. If several variables have a name, variableIndex has the last.
	variableNames []string
	variableIndex map[string]int
	hasMessages   bool
}

// newBaseProgram compiles the variables and matchConditions of a policy. The returned compiler compiles the
// other expressions. If keep is set, it keeps the checked expressions.
func newBaseProgram(s settings, base *policyBase, report expressionReport, keep bool) (*program, *compiler, error) {
	variables := newVariablesType()
	roots := newRoots(base.ParamKind != nil, variables)
	if s.isNew && len(base.Variables) == 0 {
		roots[variablesRoot].Name = undeclaredName // stored expressions can name them
	}
	c, err := newCompiler(s, roots, report)
	if err != nil {
		return nil, nil, err
	}
	c.keep = keep
	p := &program{roots: roots, variableIndex: make(map[string]int, len(base.Variables))}
	for i, v := range base.Variables {
		x, t := c.compile(fmt.Sprintf("spec.variables[%d].expression", i), v.Expression, roots)
		x.name = v.Name
		variables.Fields[v.Name] = kubecel.NewDeclField(v.Name, variableType(t), true, nil, nil)
		p.variables = append(p.variables, x)
		if _, ok := p.variableIndex[v.Name]; !ok {
			p.variableNames = append(p.variableNames, v.Name)
		}
		p.variableIndex[v.Name] = i
	}
	c.conditions(p, "spec.", base.MatchConditions)
	return p, c, nil
}

// newPolicyProgram compiles the expressions of a ValidatingAdmissionPolicy.
func newPolicyProgram(s settings, doc *policyDocument, report expressionReport) (*program, error) {
	p, _, err := compilePolicy(s, doc, report, false)
	return p, err
}

// compilePolicy compiles the expressions of a ValidatingAdmissionPolicy and returns the compiler that it
// used. If keep is set, it keeps the checked expressions.
func compilePolicy(s settings, doc *policyDocument, report expressionReport, keep bool) (*program, *compiler, error) {
	p, c, err := newBaseProgram(s, &doc.Spec.policyBase, report, keep)
	if err != nil {
		return nil, nil, err
	}
	roots := c.roots
	for i, v := range doc.Spec.Validations {
		x, _ := c.compile(fmt.Sprintf("spec.validations[%d].expression", i), v.Expression, roots, cel.BoolType)
		p.validations = append(p.validations, x)
	}
	p.messages = make([]*expression, len(doc.Spec.Validations))
	for i, v := range doc.Spec.Validations {
		if v.MessageExpression != "" {
			p.messages[i], _ = c.compile(fmt.Sprintf("spec.validations[%d].messageExpression", i), v.MessageExpression, roots[:authorizerRoot], cel.StringType)
			p.hasMessages = true
		}
	}
	for i, a := range doc.Spec.AuditAnnotations {
		x, _ := c.compile(fmt.Sprintf("spec.auditAnnotations[%d].valueExpression", i), a.ValueExpression, roots, cel.StringType, cel.NullType)
		p.annotations = append(p.annotations, x)
	}
	p.uses, p.readsNamespace = c.uses, c.readsNamespace
	return p, c, nil
}

func newWebhookProgram(s settings, path string, conditions []matchCondition, report expressionReport) (*program, error) {
	roots := newRoots(false, nil)
	c, err := newCompiler(s, roots, report)
	if err != nil {
		return nil, err
	}
	p := &program{roots: roots}
	c.conditions(p, path, conditions)
	p.uses, p.readsNamespace = c.uses, c.readsNamespace
	return p, nil
}

// conditions compiles matchConditions. path is the path of their parent with a dot, or "". The server
// rejects new matchConditions that use variables, but evaluates stored ones.
func (c *compiler) conditions(p *program, path string, conditions []matchCondition) {
	roots := c.roots
	if c.settings.isNew {
		roots = slices.Clone(roots)
		roots[variablesRoot] = celenv.Root{Name: undeclaredName, Type: cel.DynType}
	}
	for i, m := range conditions {
		x, _ := c.compile(fmt.Sprintf("%smatchConditions[%d].expression", path, i), m.Expression, roots, cel.BoolType)
		x.name = m.Name
		p.conditions = append(p.conditions, x)
	}
}
