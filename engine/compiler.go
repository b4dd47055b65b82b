package engine

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

type compiler struct {
	cfg     Config
	server  server
	decls   *types.Interner
	exprs   *expr.KeyedCompiler[*expr.Expr]
	schemas []*versionSchema
	version string
	errs    []*CompileError
	// at is the current rule, for the report if compiling it panics.
	at *RuleRef
}

func newCompiler(cfg Config) (*compiler, error) {
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return nil, err
	}
	s := server(v.Minor)
	cfg.NoRatcheting = cfg.NoRatcheting || !s.has(ratchets)
	cfg.KubeVersion, cfg.Limits = v.String(), cfg.Limits.WithDefaults()
	c := &compiler{cfg: cfg, server: s, decls: types.NewInterner()}
	c.decls.Version = v
	var planner *eval.Planner // nil before the first rule
	c.exprs = expr.NewKeyedCompiler(expr.KeyedConfig[*expr.Expr]{
		Env: celenv.ForRules(v, cfg.Expressions == New),
		Finish: func(checked *expr.Checked) (*expr.Expr, error) {
			if planner == nil {
				planner = eval.NewPlanner(checked.Env)
			}
			x, err := expr.Plan(planner, checked.Decl, checked.AST, checked.Source, cfg.Limits.PerCall)
			if err != nil {
				return nil, checked.Unplannable(err)
			}
			x.Forget()
			return x, nil
		},
		Complex: func(key expr.Key, why *celenv.ComplexError) *expr.Expr {
			return expr.Overworked(key.Decl, key.Source, why)
		},
	})
	return c, nil
}

func (c *compiler) err() error {
	if len(c.errs) == 0 {
		return nil
	}
	return &CompileErrors{Errors: c.errs}
}

func (c *compiler) bug(p any) error {
	if c == nil {
		return internalError(p)
	}
	return bugOf(c.at, p)
}

func (c *compiler) compile(version string, s *schema.Structural, d *types.Decl) (*Rules, error) {
	c.version = version
	r := &Rules{schema: s, server: c.server, ratchet: !c.cfg.NoRatcheting}
	at := sketchOf(s)
	if !at.count() {
		return r, nil
	}
	if _, err := c.exprs.Scope(); err != nil {
		return nil, err
	}
	r.root = c.node("", at, s, s, d)
	return r, nil
}

// Config configures an engine. The zero value behaves like the API server of the newest Kubernetes
// version that this build supports.
type Config struct {
	// KubeVersion is the Kubernetes minor to emulate, such as "1.33". If it is empty, the newest supported minor is
	// used. It determines, for example, which CEL functions exist, how objects are validated, and the messages of
	// causes. The linked Kubernetes release does not matter.
	KubeVersion string
	// Limits overrides the API server's cost limits. Zero fields keep the server's limits.
	Limits cost.Limits
	// Expressions selects the CEL environment, for rules already stored in a CRD or for new rules.
	Expressions Expressions
	// Subtree is used by CompileRules only. If it is set, the schema is not the root of a resource,
	// so apiVersion, kind, and metadata are not added to it.
	Subtree bool
	// NoRatcheting validates updates as strictly as creates, like a server whose feature gate CRDValidationRatcheting
	// is off. Before 1.30, updates are always validated like this.
	NoRatcheting bool
	// Lazy compiles the rules of a version when they first run, to save the memory and time for
	// versions that no object uses. Invalid rules are then reported by Validate only, as causes. It
	// applies to Compile and CompileCRD.
	Lazy bool
	// Converter replaces the conversion webhook of CRDs with the strategy Webhook. If it is nil,
	// objects of such CRDs are validated in their own version only.
	Converter Converter
}

// Expressions selects the CEL environment that compiles rules. See
// https://kubernetes.io/docs/reference/using-api/cel/#cel-versions-and-kubernetes-compatibility.
type Expressions uint8

const (
	// Stored compiles rules with everything that KubeVersion supports, as a server does for rules
	// that are already in a CRD.
	Stored Expressions = iota
	// New compiles rules as a server of KubeVersion does when they are new or changed: with the CEL
	// features of the previous minor, so that the server can be rolled back.
	New
)

func (e Expressions) String() string {
	if e == New {
		return "new"
	}
	return "stored"
}

// BareNode returns a node for expressions without a CRD: self and oldSelf are not declared, so they
// do not compile. Its Decl is a placeholder that no expression can refer to.
func BareNode(cfg Config) (*Node, error) {
	c, err := newCompiler(cfg)
	if err != nil {
		return nil, err
	}
	nothing := &schema.Structural{Generic: schema.Generic{Type: "boolean"}}
	return &Node{Config: c.cfg, Decl: c.decls.FromSchema(nothing, types.Subtree), Bare: true}, nil
}

func (n *Node) newCompiler() (*expr.Compiler, error) {
	env := celenv.ForRules(n.Decl.Version(), n.Config.Expressions == New)
	return expr.NewCompiler(env, n.Decl, n.Bare, n.Config.Limits.PerCall, n.badRule)
}
