package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
)

type part uint8

const (
	partVariable part = iota
	partCondition
	partValidation
	partMessage
	partAnnotation
	partMutation
	partCount
)

var partNames = [partCount]string{
	partVariable: PartVariable, partCondition: PartCondition, partValidation: PartValidation, partMessage: PartMessage, partAnnotation: PartAnnotation,
	partMutation: PartMutation,
}

type source struct {
	part       part
	index      int
	path, text string
	name       string    // of a variable or matchCondition, or the key of an audit annotation
	patch      PatchType // of a mutation
	// message and reason belong to a validation and include the server's defaults.
	message, reason string
}

// types returns nil if any type is allowed.
func (s *source) types() []*cel.Type {
	switch s.part {
	case partCondition, partValidation:
		return []*cel.Type{cel.BoolType}
	case partMessage:
		return []*cel.Type{cel.StringType}
	case partAnnotation:
		return []*cel.Type{cel.StringType, cel.NullType}
	case partMutation:
		if s.patch == PatchJSON {
			return []*cel.Type{cel.ListType(celenv.JSONPatchType)}
		}
		return []*cel.Type{celenv.ObjectType}
	}
	return nil
}

// A body holds the expressions of a document, in the order in which they are compiled.
type body struct {
	sources             []source
	hasParams, isPolicy bool
	reinvoke            bool // reinvocationPolicy: IfNeeded
}

func (b *body) add(of part, index int, path, text string) *source {
	b.sources = append(b.sources, source{part: of, index: index, path: path, text: text})
	return &b.sources[len(b.sources)-1]
}

// addConditions adds the matchConditions of the object at path, which ends with a dot.
func (b *body) addConditions(path string, list []matchCondition) {
	for i, m := range list {
		b.add(partCondition, i, fmt.Sprintf("%smatchConditions[%d].expression", path, i), m.Expression).name = m.Name
	}
}

func (p *policyBase) body() body {
	b := body{hasParams: p.ParamKind != nil, isPolicy: true}
	for i, v := range p.Variables {
		b.add(partVariable, i, fmt.Sprintf("spec.variables[%d].expression", i), v.Expression).name = v.Name
	}
	b.addConditions("spec.", p.MatchConditions)
	return b
}

func (d *policyDocument) body() body {
	b := d.Spec.policyBase.body()
	for i, v := range d.Spec.Validations {
		at := fmt.Sprintf("spec.validations[%d].", i)
		of := b.add(partValidation, i, at+"expression", v.Expression)
		of.message, of.reason = cmp.Or(strings.TrimSpace(v.Message), "failed expression: "+strings.TrimSpace(v.Expression)), "Invalid"
		if v.Reason != nil {
			of.reason = *v.Reason
		}
		if v.MessageExpression != "" {
			b.add(partMessage, i, at+"messageExpression", v.MessageExpression)
		}
	}
	for i, a := range d.Spec.AuditAnnotations {
		b.add(partAnnotation, i, fmt.Sprintf("spec.auditAnnotations[%d].valueExpression", i), a.ValueExpression).name = a.Key
	}
	return b
}

func (d *mutatingDocument) body() body {
	b := d.Spec.policyBase.body()
	b.reinvoke = d.Spec.ReinvocationPolicy != nil && *d.Spec.ReinvocationPolicy == "IfNeeded"
	for i, m := range d.Spec.Mutations {
		field, given := "applyConfiguration", m.ApplyConfiguration
		if m.PatchType == PatchJSON {
			field, given = "jsonPatch", m.JSONPatch
		}
		if given != nil {
			b.add(partMutation, i, fmt.Sprintf("spec.mutations[%d].%s.expression", i, field), given.Expression).patch = m.PatchType
		}
	}
	return b
}

// bodyOf returns the expressions of a policy or webhook configuration. With an error, it returns those that it could
// decode.
func bodyOf(document map[string]any) (b body, err error) {
	if p := newDocument(textOf(document, "kind")); p != nil {
		err = decode(document, p)
		return p.body(), err
	}
	var d webhookConfiguration
	err = decode(document, &d)
	for i := range d.Webhooks {
		b.addConditions(fmt.Sprintf("webhooks[%d].", i), d.Webhooks[i].MatchConditions)
	}
	return b, err
}

// A nil *expression is absent.
type expression struct {
	source
	program  *eval.Program // nil if failure is set
	failure  string
	checked  *cel.Ast // nil if it is invalid, or in a trimmed program
	observer ExpressionObserver
}

// An expressionReport is called for an invalid expression. offset is in code points, or 0 if it is not known.
type expressionReport func(path, detail string, offset int)

// Users of a compiled program lock its compiler.
type compiler struct {
	sync.Mutex
	settings  settings
	scope     *celenv.Scope
	planner   *eval.Planner
	mutations *compiler // for mutations, whose scope has the types of patches; nil without mutations
}

func newCompiler(s settings) (*compiler, error) {
	scope, err := s.env.Scope()
	if err != nil {
		return nil, err
	}
	return &compiler{settings: s, scope: scope, planner: eval.NewPlanner(scope.Env()).ForVersion(s.version)}, nil
}

type program struct {
	roots []celenv.Root
	uses  [rootCount]bool // roots to bind
	// readsNamespace is set if an expression reads more of namespaceObject than metadata.name.
	readsNamespace bool
	// parts[partMessage] has an item for each validation, which is nil without messageExpression.
	parts [partCount][]*expression

	// variableNames lists each name once. If several variables have a name, variableIndex has the last.
	variableNames []string
	variableIndex map[string]int
	hasMessages   bool
	compiler      *compiler // nil in a trimmed program
}

func compile(s settings, b body, report expressionReport) (*program, error) {
	c, err := newCompiler(s)
	if err != nil {
		return nil, err
	}
	variables := newVariablesType()
	p := &program{roots: newRoots(b.hasParams, b.isPolicy, variables), variableIndex: map[string]int{}, compiler: c}
	if s.New && !slices.ContainsFunc(b.sources, func(s source) bool { return s.part == partVariable }) {
		p.roots[variablesRoot].Name = undeclaredName // stored expressions can name them
	}
	for _, of := range b.sources {
		if of.part == partMutation && c == p.compiler {
			s.env = s.env.WithPatchTypes()
			if c, err = newCompiler(s); err != nil {
				return nil, err
			}
			p.compiler.mutations = c
		}
		x, t := c.compile(p, of, report)
		p.parts[of.part] = append(p.parts[of.part], x)
		switch of.part {
		case partVariable:
			declareVariable(variables, of.name, t)
			if _, ok := p.variableIndex[of.name]; !ok {
				p.variableNames = append(p.variableNames, of.name)
			}
			p.variableIndex[of.name] = of.index
		case partMessage:
			p.hasMessages = true
		}
	}
	messages := make([]*expression, len(p.parts[partValidation]))
	for _, x := range p.parts[partMessage] {
		messages[x.index] = x
	}
	p.parts[partMessage] = messages
	return p, nil
}

// trimmed drops the compiler and the syntax trees, which evaluation does not need.
func (p *program) trimmed() *program {
	p.compiler = nil
	for _, list := range p.parts {
		for _, x := range list {
			if x != nil {
				x.checked = nil
			}
		}
	}
	return p
}

// rootsOf hides variables from new matchConditions: the server rejects such uses, but evaluates stored ones.
func rootsOf(roots []celenv.Root, of part, isNew bool) []celenv.Root {
	switch {
	case of == partMessage:
		return roots[:authorizerRoot]
	case of == partCondition && isNew:
		roots = slices.Clone(roots)
		roots[variablesRoot] = celenv.Root{Name: undeclaredName, Type: cel.DynType}
	}
	return roots
}

// compile returns a nil type for an expression that it reports as invalid.
func (c *compiler) compile(p *program, of source, report expressionReport) (*expression, *cel.Type) {
	x := &expression{source: of}
	roots := rootsOf(p.roots, of.part, c.settings.New)
	checked, err := c.scope.CompileWith(declared(roots), of.text)
	var complex *celenv.ComplexError
	var issues *celenv.IssuesError
	offset := 0
	switch {
	case errors.As(err, &complex):
		x.program = eval.Overworked(err.Error())
		report(of.path, err.Error(), 0)
		return x, nil
	case errors.As(err, &issues):
		x.failure, offset = "compilation failed: "+err.Error(), issues.Offset(0)
	case err != nil:
		x.failure = err.Error()
	case !isOneOf(checked.OutputType(), of.types()):
		x.failure = mistyped(checked.OutputType(), of.types())
	default:
		if x.program, err = c.planner.PlanWith(checked, roots, c.settings.Limits.PerCall); err != nil {
			x.program, x.failure = nil, "program instantiation failed: "+err.Error()
		}
	}
	if x.failure != "" {
		report(of.path, x.failure, offset)
		return x, nil
	}
	x.checked = checked
	for i, r := range roots {
		p.uses[i] = p.uses[i] || expr.Mentions(checked, r.Name)
	}
	p.readsNamespace = p.readsNamespace || readsNamespace(checked)
	return x, checked.OutputType()
}

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

func declared(roots []celenv.Root) []celenv.Root {
	return slices.DeleteFunc(slices.Clone(roots), func(r celenv.Root) bool { return r.Name == undeclaredName })
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
