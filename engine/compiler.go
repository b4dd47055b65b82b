package engine

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/eval"
	"github.com/celadon-cel/celadon/engine/internal/rule"
	"github.com/celadon-cel/celadon/internal/expr"
	"github.com/celadon-cel/celadon/types"
)

// compiler compiles one CRD, or one schema: all its versions share declarations
// and expressions.
type compiler struct {
	cfg     Config
	limits  limits
	decls   *types.Interner
	exprs   *rule.Compiler[*expr.Expr]
	planner *eval.Planner // nil before the first rule
	schemas []*versionSchema
	version string
	errs    []*CompileError
	// at is the rule at hand, should it meet a bug.
	at *RuleRef
}

func newCompiler(cfg Config) (*compiler, error) {
	env, err := envOf(cfg)
	if err != nil {
		return nil, err
	}
	c := &compiler{cfg: cfg, limits: cfg.Limits.WithDefaults(), decls: types.NewInterner()}
	c.exprs = rule.NewCompiler(rule.Config[*expr.Expr]{
		Env:    env,
		Finish: c.plan,
		Complex: func(key rule.Key, why *types.ComplexError) *expr.Expr {
			return expr.Overworked(key.Decl, key.Source, why)
		},
	})
	return c, nil
}

// envOf is what the rules of a configuration know.
func envOf(cfg Config) (*types.Env, error) {
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return nil, err
	}
	if cfg.Expressions == New {
		return types.NewRulesEnv(v), nil
	}
	return types.StoredEnv(v), nil
}

// plan makes of a checked expression what objects need.
func (c *compiler) plan(checked *rule.Checked) (*expr.Expr, error) {
	if c.planner == nil {
		c.planner = eval.NewPlanner(checked.Env)
	}
	x, err := expr.Plan(c.planner, checked.Decl, checked.AST, checked.Source, c.limits.PerCall)
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

// bug is a panic while compiling, of the rule at hand if there is one.
func (c *compiler) bug(p any) error {
	if c == nil {
		return bug(p)
	}
	return bugOf(c.at, p)
}

// compile compiles the rules of one schema, declared as d; version names it in
// errors.
func (c *compiler) compile(version string, s *schema.Structural, d *types.Decl) (*Rules, error) {
	c.version = version
	r := &Rules{schema: s, decl: d, limits: c.limits, ratchet: !c.cfg.NoRatcheting}
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
