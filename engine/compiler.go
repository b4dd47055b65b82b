package engine

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// A compiler compiles a CRD or a single schema. All versions share declarations and expressions.
type compiler struct {
	cfg Config
	// server has the behavior of cfg.KubeVersion.
	server  *server
	env     *celenv.Env
	limits  limits
	decls   *types.Interner
	exprs   *expr.KeyedCompiler[*expr.Expr]
	schemas []*versionSchema
	version string
	// todo holds the rules of the current version, in the order in which their errors are reported.
	todo []ruleAtNode
	errs []*CompileError
	// at is the current rule, for the report if compiling it panics.
	at *RuleRef
}

func newCompiler(cfg Config) (*compiler, error) {
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return nil, err
	}
	s := serverOf(v.Minor)
	cfg.NoRatcheting = cfg.NoRatcheting || !s.has[ratchets]
	cfg.KubeVersion, cfg.Limits = v.String(), cfg.Limits.WithDefaults()
	c := &compiler{cfg: cfg, server: s, env: celenv.ForRules(v, cfg.Expressions == New), limits: cfg.Limits, decls: types.NewInterner()}
	c.decls.Version = v
	c.exprs = c.newExprs()
	return c, nil
}

// newExprs returns an expression compiler with its own scope and planner.
func (c *compiler) newExprs() *expr.KeyedCompiler[*expr.Expr] {
	var planner *eval.Planner // nil before the first rule
	return expr.NewKeyedCompiler(expr.KeyedConfig[*expr.Expr]{
		Env: c.env,
		Finish: func(checked *expr.Checked) (*expr.Expr, error) {
			if planner == nil {
				planner = eval.NewPlanner(checked.Env)
			}
			return plan(planner, checked, c.limits.PerCall)
		},
		Complex: func(key expr.Key, why *celenv.ComplexError) *expr.Expr {
			return expr.Overworked(key.Decl, key.Source, why)
		},
	})
}

// plan compiles a checked expression to a program.
func plan(planner *eval.Planner, checked *expr.Checked, limit int64) (*expr.Expr, error) {
	x, err := expr.Plan(planner, checked.Decl, checked.AST, checked.Source, limit)
	if err != nil {
		return nil, checked.Unplannable(err)
	}
	x.Forget()
	return x, nil
}

func (c *compiler) err() error {
	if len(c.errs) == 0 {
		return nil
	}
	return &CompileErrors{Errors: c.errs}
}

// bug returns p, a panic while compiling, as an error. It names the current rule, if any.
func (c *compiler) bug(p any) error {
	if c == nil {
		return internalError(p)
	}
	return bugOf(c.at, p)
}

// compile compiles the rules of s, whose declaration is d. Errors name version.
func (c *compiler) compile(version string, s *schema.Structural, d *types.Decl) (*Rules, error) {
	c.version = version
	r := &Rules{schema: s, decl: d, limits: c.limits, server: c.server, ratchet: !c.cfg.NoRatcheting}
	at := sketchOf(s)
	if !at.count() {
		return r, nil
	}
	if _, err := c.exprs.Scope(); err != nil {
		return nil, err
	}
	c.todo = nil
	r.root = c.node("", at, s, s, d)
	for _, p := range c.todo {
		c.rule(p.rule, p.node)
	}
	r.root.settle()
	return r, nil
}
