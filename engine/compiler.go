package engine

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/eval"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/engine/x/rule"
	"github.com/celadon-cel/celadon/types"
)

// compiler compiles one CRD, or one schema: all its versions share declarations
// and expressions.
type compiler struct {
	cfg Config
	// optional: rules with optionalOldSelf run without an old value.
	optional bool
	env      *types.Env
	limits   limits
	decls    *types.Interner
	exprs    *rule.Compiler[*expr.Expr]
	schemas  []*versionSchema
	version  string
	// todo are the rules of the version at hand, in the order of their errors.
	todo []placedRule
	errs []*CompileError
	// at is the rule at hand, should it meet a bug.
	at *RuleRef
}

// ratchetsSince is the minor of Kubernetes in which the feature gate
// CRDValidationRatcheting is on by default; optionalOldSelf is behind it, too.
const ratchetsSince = 30

func newCompiler(cfg Config) (*compiler, error) {
	env, err := envOf(cfg)
	if err != nil {
		return nil, err
	}
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return nil, err
	}
	gate := v.Minor >= ratchetsSince
	cfg.NoRatcheting = cfg.NoRatcheting || !gate
	c := &compiler{cfg: cfg, optional: gate, env: env, limits: cfg.Limits.WithDefaults(), decls: types.NewInterner()}
	c.exprs = c.newExprs()
	return c, nil
}

// newExprs makes a compiler of expressions with a scope and a planner of its own.
func (c *compiler) newExprs() *rule.Compiler[*expr.Expr] {
	var planner *eval.Planner // nil before the first rule
	return rule.NewCompiler(rule.Config[*expr.Expr]{
		Env: c.env,
		Finish: func(checked *rule.Checked) (*expr.Expr, error) {
			if planner == nil {
				planner = eval.NewPlanner(checked.Env)
			}
			return plan(planner, checked, c.limits.PerCall)
		},
		Complex: func(key rule.Key, why *types.ComplexError) *expr.Expr {
			return expr.Overworked(key.Decl, key.Source, why)
		},
	})
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
func plan(planner *eval.Planner, checked *rule.Checked, limit int64) (*expr.Expr, error) {
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
	c.todo = nil
	r.root = c.node("", at, s, s, d)
	c.ahead()
	for _, p := range c.todo {
		c.rule(p.rule, p.node)
	}
	r.root.settle()
	return r, nil
}
