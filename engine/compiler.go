package engine

import (
	"errors"

	"github.com/google/cel-go/cel"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/eval"
	"github.com/celadon-cel/celadon/types"
)

// compiler compiles the rules of one or more schemas. Equal expressions over
// equal declarations are compiled once.
type compiler struct {
	cfg     Config
	env     *types.Env
	limits  limits
	decls   *types.Interner
	scope   *types.Scope  // nil before the first rule
	planner *eval.Planner // of the scope's environment
	cache   map[exprKey]*compiled
	schemas []*versionSchema
	version string
	errs    []*CompileError
}

type exprKey struct {
	decl     *types.Decl
	part     part
	optional bool
	src      string
}

// compiled is one expression, or the server's text for what is wrong with it.
type compiled struct {
	expr   *Expr
	detail string
	err    error
}

func newCompiler(cfg Config) (*compiler, error) {
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return nil, err
	}
	c := &compiler{
		cfg:    cfg,
		limits: cfg.Limits.WithDefaults(),
		env:    types.StoredEnv(v),
		decls:  types.NewInterner(),
		cache:  map[exprKey]*compiled{},
	}
	if cfg.Expressions == New {
		c.env = types.NewRulesEnv(v)
	}
	return c, nil
}

func (c *compiler) err() error {
	if len(c.errs) == 0 {
		return nil
	}
	return &CompileErrors{Errors: c.errs}
}

// compile compiles the rules of one schema, declared as d; version names it in
// errors.
func (c *compiler) compile(version string, s *schema.Structural, d *types.Decl) (*Rules, error) {
	c.version = version
	r := &Rules{schema: s, decl: d, limits: c.limits, ratchet: !c.cfg.NoRatcheting}
	if !hasRules(s) {
		return r, nil
	}
	if c.scope == nil {
		var err error
		if c.scope, err = c.env.Scope(); err != nil {
			return nil, err
		}
		c.planner = eval.NewPlanner(c.scope.Env())
	}
	r.root = c.node("", s, s, d)
	return r, nil
}

// expr compiles an expression, or finds it compiled.
func (c *compiler) expr(d *types.Decl, p part, optional bool, src string) *compiled {
	key := exprKey{d, p, optional, src}
	if known := c.cache[key]; known != nil {
		return known
	}
	res := &compiled{}
	res.expr, res.detail, res.err = c.typed(d, p, optional, src)
	c.cache[key] = res
	return res
}

// typed compiles an expression that must have its part's type. detail is the
// server's text for err.
func (c *compiler) typed(d *types.Decl, p part, optional bool, src string) (x *Expr, detail string, err error) {
	texts := p.texts()
	defer func() {
		if p := recover(); p != nil { // cel-go's planner has such rules
			err = bug(p)
			x, detail = nil, texts.plan+err.Error()
		}
	}()
	checked, err := c.scope.Compile(d, optional, src)
	var complex *types.ComplexError
	if errors.As(err, &complex) {
		return neverRun(d, src, complex), "", nil
	}
	if err != nil {
		return nil, texts.compilation + err.Error(), err
	}
	x = newExpr(d, checked, src)
	if x.Type() != texts.want {
		return nil, texts.wrongType, errors.New(texts.wrongType)
	}
	if err := x.plan(c.planner, c.limits.PerCall); err != nil {
		return nil, texts.plan + err.Error(), err
	}
	x.ast = nil // no object needs it
	return x, "", nil
}

// part is a part of a rule that is an expression.
type part uint8

const (
	ruleItself part = iota
	messageExpression
)

func (p part) String() string {
	if p == messageExpression {
		return "messageExpression"
	}
	return "rule"
}

// partTexts are the API server's words for one part of a rule.
type partTexts struct {
	want                         *cel.Type
	compilation, wrongType, plan string
}

func (p part) texts() partTexts {
	if p == messageExpression {
		return partTexts{
			want:        cel.StringType,
			compilation: "messageExpression compilation failed: ",
			wrongType:   "messageExpression must evaluate to a string",
			plan:        "messageExpression instantiation failed: ",
		}
	}
	return partTexts{
		want:        cel.BoolType,
		compilation: "compilation failed: ",
		wrongType:   "cel expression must evaluate to a bool",
		plan:        "program instantiation failed: ",
	}
}
