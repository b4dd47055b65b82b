package assist

import (
	"sync"

	"github.com/google/cel-go/cel"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// Context is the context of an expression: a schema node, and everything known about the expression there.
// NewContext and NewBareContext create one. All fields except Node are optional. A Context is safe for
// concurrent use as long as its fields do not change.
//
// All positions in expressions count code points from 0, as CEL does.
type Context struct {
	Node *engine.Node
	// Schema is the node's schema as written in the CRD. Schemas that are equal for CEL share a
	// declaration, so details such as enums are only found here.
	Schema *apiextensionsv1.JSONSchemaProps
	// Part is the role of the expression. OptionalOldSelf is set if the rule sets it.
	Part            Part
	OptionalOldSelf bool
	// Limits are the limits that costs are compared with. Zero fields mean the API server's limits.
	Limits cost.Limits
	// Functions describes functions. Contexts that share a Functions build each version's environment
	// only once. If nil, the Context creates its own.
	Functions *Functions
	// Self and Old are the values of self and oldSelf, or nil.
	Self, Old any
	// Roots are variables in addition to self and oldSelf.
	Roots []celenv.Root

	engine *engine.Engine                   // or nil
	whole  *apiextensionsv1.JSONSchemaProps // the schema of the version, or nil
	around around
	mu     sync.Mutex
	known  *expr.Compiler
}

// Part is the role of an expression, which determines the required type.
type Part uint8

// The parts. An AnyExpression can have any type, as in the shell. A Rule must be a bool and a
// MessageExpression a string.
const (
	AnyExpression Part = iota
	Rule
	MessageExpression
)

func (p Part) String() string {
	return [...]string{AnyExpression: "the whole", Rule: "the rule", MessageExpression: "the messageExpression"}[p]
}

// NewContext returns the context of an expression at a path of a version, both as for engine.Engine.At.
// schema is the whole schema of that version as written in the CRD, or nil.
func NewContext(e *engine.Engine, schema *apiextensionsv1.JSONSchemaProps, version, path string) (*Context, error) {
	node, err := e.At(version, path)
	if err != nil {
		return nil, err
	}
	root, err := e.At(version, "")
	if err != nil {
		return nil, err
	}
	steps, err := engine.ParsePath(path)
	if err != nil {
		return nil, err
	}
	return &Context{Node: node, Schema: SchemaAt(schema, steps), engine: e, whole: schema, around: newAround(root.Decl, steps)}, nil
}

// NewBareContext returns the context of an expression without a CRD, which has no self.
func NewBareContext(cfg engine.Config) (*Context, error) {
	node, err := engine.BareNode(cfg)
	if err != nil {
		return nil, err
	}
	return &Context{Node: node, around: newAround(node.Decl, nil), Limits: cfg.Limits}, nil
}

func (p *Context) model() celcost.Model {
	v := types.Version{Minor: types.Newest}
	if c := p.compiler(); c != nil {
		v = c.Version()
	}
	return celcost.For(v)
}

// env returns the environment of expressions at p, or nil, for example if the schema is not visible to rules.
func (p *Context) env() *cel.Env {
	compiler := p.compiler()
	if compiler == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	env, err := compiler.Env(p.OptionalOldSelf)
	if err != nil {
		return nil
	}
	return env
}

// compiler returns the compiler for expressions at p, or nil, for example if rules are not allowed there.
func (p *Context) compiler() *expr.Compiler {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil && p.Node.Decl.Kind != types.Hidden {
		if p.known, _ = access.Compiler(p.Node); p.known != nil && len(p.Roots) > 0 {
			p.known.Declare(p.Roots)
		}
	}
	return p.known
}

func (p *Context) compile(src string) (*expr.Expr, error) {
	compiler := p.compiler()
	if compiler == nil {
		return nil, types.ErrHidden
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return compiler.Compile(src, p.OptionalOldSelf)
}

func (p *Context) functions() *Functions {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Functions == nil {
		p.Functions = &Functions{}
	}
	return p.Functions
}

// TypeOf returns the type of an expression in OpenAPI terms, taken from its declaration if it is
// declared.
func (p *Context) TypeOf(x *expr.Expr) string {
	r := resolver{context: p}
	if found := r.expr(x.AST().NativeRep().Expr()); found.decl != nil && !isOptional(x.Type()) {
		return found.decl.String()
	}
	return TypeWords(x)
}

// SchemaAt returns the schema at the end of steps, or nil if the CRD does not declare it.
func SchemaAt(s *apiextensionsv1.JSONSchemaProps, steps []engine.Step) *apiextensionsv1.JSONSchemaProps {
	for _, step := range steps {
		s = SchemaBelow(s, step)
	}
	return s
}

// SchemaBelow returns the schema of the child that step selects, or nil.
func SchemaBelow(s *apiextensionsv1.JSONSchemaProps, step engine.Step) *apiextensionsv1.JSONSchemaProps {
	if s == nil {
		return nil
	}
	if !step.Item && !step.Any {
		if prop, ok := s.Properties[step.Name]; ok {
			return &prop
		}
	}
	if s.AdditionalProperties != nil && !step.Item {
		return s.AdditionalProperties.Schema
	}
	if s.Items != nil {
		return s.Items.Schema
	}
	return nil
}

// Explain returns the problem of a rule of a CRD that does not compile, with its fixes. e is the engine that was
// compiled from the CRD. functions may be nil; calls for the same CRD should share it. Explain can return nil, for
// example for an error in a fieldPath.
func Explain(e *engine.Engine, crd *apiextensionsv1.CustomResourceDefinition, bad *engine.CompileError, functions *Functions) *Problem {
	if e == nil || bad.Part == "fieldPath" {
		return nil
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Name != bad.Version || v.Schema == nil {
			continue
		}
		p, err := NewContext(e, v.Schema.OpenAPIV3Schema, v.Name, bad.Path)
		if err != nil {
			return nil
		}
		p.Functions, p.Part = functions, Rule
		if bad.Part == "messageExpression" {
			if p.Part = MessageExpression; p.Schema == nil || bad.Index >= len(p.Schema.XValidations) {
				return nil
			}
			message := *bad
			message.Rule, bad = p.Schema.XValidations[bad.Index].MessageExpression, &message
		}
		problem := p.ProblemOf(bad)
		return &problem
	}
	return nil
}
