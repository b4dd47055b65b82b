package assist

import (
	"sync"

	"github.com/google/cel-go/cel"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// Place is where an expression stands, and what is known of it there. NewPlace makes
// one; all but the node may be left out. It is safe for concurrent use as long as
// its fields stay as they are.
//
// All places in expressions count code points, from 0, as CEL does.
type Place struct {
	Node *engine.Node
	// Schema is the place's as the CRD has it. A declaration is shared by all places
	// that CEL cannot tell apart, so an enum, say, is looked for here.
	Schema *apiextensionsv1.JSONSchemaProps
	// Part is what the expression is for; OptionalOldSelf is as its rule has it.
	Part            Part
	OptionalOldSelf bool
	// Limits are those that costs are held against; zero is the API server's.
	Limits cost.Limits
	// Functions tells of functions; places that share one ask each Kubernetes version
	// only once. nil makes one.
	Functions *Functions
	// Self and Old are values of self and oldSelf.
	Self, Old any
	// Named are other names that an expression may use, and Expand writes in place
	// of each what it stands for.
	Named  []Candidate
	Expand func(src string) (string, error)

	around around
	mu     sync.Mutex
	known  *expr.Compiler
}

// Part is what an expression is for, and so what it must give.
type Part uint8

// The parts. AnyExpression may give anything, as in a shell; a Rule gives true or
// false, a MessageExpression a text.
const (
	AnyExpression Part = iota
	Rule
	MessageExpression
)

func (p Part) String() string {
	return [...]string{AnyExpression: "the whole", Rule: "the rule", MessageExpression: "the messageExpression"}[p]
}

// NewPlace is the place of an expression at a path of a version, as engine.Engine.At
// has it. schema is the version's, whole, as the CRD has it; nil for none.
func NewPlace(e *engine.Engine, schema *apiextensionsv1.JSONSchemaProps, version, path string) (*Place, error) {
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
	return &Place{Node: node, Schema: SchemaAt(schema, steps), around: newAround(root.Decl(), steps)}, nil
}

// env is what expressions here know; nil where the schema is not visible to rules.
func (p *Place) env() *cel.Env {
	desk := p.compiler()
	if desk == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	env, err := desk.Env(p.OptionalOldSelf)
	if err != nil {
		return nil
	}
	return env
}

// compiler is where expressions here are tried; nil where rules cannot stand.
func (p *Place) compiler() *expr.Compiler {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil && p.Node.Decl().Kind != types.Hidden {
		p.known, _ = p.Node.Compiler()
	}
	return p.known
}

// compile compiles an expression of any type.
func (p *Place) compile(src string) (*expr.Expr, error) {
	desk := p.compiler()
	if desk == nil {
		return nil, types.ErrHidden
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return desk.Compile(src, p.OptionalOldSelf)
}

// steps lead to the place; items and entries are any.
func (p *Place) steps() []engine.Step {
	if p.around.steps != nil {
		return p.around.steps
	}
	steps, _ := engine.ParsePath(p.Node.Path())
	return steps
}

// functions are those that the place knows of.
func (p *Place) functions() *Functions {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Functions == nil {
		p.Functions = &Functions{}
	}
	return p.Functions
}

func (p *Place) expand(src string) (string, error) {
	if p.Expand == nil {
		return src, nil
	}
	return p.Expand(src)
}

// TypeOf is an expression's type in a schema's words: those of a declaration where
// it names one.
func (p *Place) TypeOf(x *expr.Expr) string {
	r := resolver{place: p}
	if found := r.expr(x.AST().NativeRep().Expr()); found.decl != nil && !isOptional(x.Type()) {
		return found.decl.String()
	}
	return TypeWords(x)
}

// SchemaAt is the schema of a place; nil where the CRD declares none.
func SchemaAt(s *apiextensionsv1.JSONSchemaProps, steps []engine.Step) *apiextensionsv1.JSONSchemaProps {
	for _, step := range steps {
		s = SchemaBelow(s, step)
	}
	return s
}

// SchemaBelow is the schema one step down.
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
