package policy

import (
	"cmp"
	"errors"
	"slices"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/kubecel"
	"github.com/celadon-cel/celadon/types"
)

// How it works: evaluation does not use the schemas of objects, so Compile declares them as dyn. A
// TypeChecker compiles the same expressions with declarations, like the controller in the API server
// that writes warnings into the status of policies. It plans nothing.

// A TypeChecker checks the expressions of a policy or webhook for objects of known types. It is not
// safe for concurrent use.
type TypeChecker struct {
	settings settings
	body
}

// A TypedExpression is an expression with the result of checking it.
type TypedExpression struct {
	// Path is the field, such as "spec.validations[0].expression".
	Path, Source string
	// Issues holds the type checker's errors in the format of the API server, or is "".
	Issues string
	// Errors holds the type checker's errors one by one.
	Errors []TypeError
	// Cost estimates an evaluation, without the variables that the expression selects. It is zero if the expression
	// has issues or is too complex.
	Cost cost.Estimate
}

// A TypeError is an error of the type checker. Node is the ID of the expression in cel-go's syntax tree, and Offset its
// position in code points.
type TypeError struct {
	Node    int64
	Offset  int
	Message string
}

// NewTypeChecker returns a TypeChecker for a policy, without its mutations, or for a webhook configuration. It
// returns an error if cfg is invalid or the document cannot be decoded.
func NewTypeChecker(document map[string]any, cfg Config) (*TypeChecker, error) {
	settings, err := settingsOf(cfg)
	if err != nil {
		return nil, err
	}
	b, err := bodyOf(document)
	b.sources = slices.DeleteFunc(b.sources, func(s source) bool { return s.part == partMutation })
	return &TypeChecker{settings, b}, err
}

// Check checks all expressions with object and oldObject declared as object, and params as params. If a
// declaration is nil, the type of the objects is not known.
func (c *TypeChecker) Check(object, params *types.Decl) (list []TypedExpression, err error) {
	at := ""
	defer recovered(&at, &list, &err)
	k, err := c.newTypedCompiler(object, params)
	if err != nil {
		return nil, err
	}
	for i := range c.sources {
		list = append(list, k.compile(&c.sources[i]))
	}
	return list, nil
}

// Roots returns the variables of the expression at a path, declared as for Check, without those that it cannot use.
// It returns nil if the path has no expression.
func (c *TypeChecker) Roots(path string, object, params *types.Decl) ([]celenv.Root, error) {
	k, err := c.newTypedCompiler(object, params)
	if err != nil {
		return nil, err
	}
	for i := range c.sources {
		s := &c.sources[i]
		if s.path != path {
			k.compile(s)
			continue
		}
		if len(k.variables.Fields) == 0 {
			k.roots[variablesRoot].Name = undeclaredName
		}
		return declared(rootsOf(k.roots, s.part, true)), nil
	}
	return nil, nil
}

type typedCompiler struct {
	*TypeChecker
	scope         *celenv.Scope
	roots         []celenv.Root
	variables     *kubecel.DeclType
	sizes, values map[string]celcost.Value
}

func (c *TypeChecker) newTypedCompiler(object, params *types.Decl) (*typedCompiler, error) {
	scope, err := c.settings.env.Scope()
	if err != nil {
		return nil, err
	}
	k := &typedCompiler{TypeChecker: c, scope: scope, variables: newVariablesType(), values: map[string]celcost.Value{}}
	k.roots = newRoots(k.hasParams, k.isPolicy, k.variables)
	k.sizes = map[string]celcost.Value{"variables": celcost.Fields(k.values), "request": requestSizes()}
	set := func(root int, d *types.Decl) {
		if d != nil && d.Kind != types.Hidden {
			k.roots[root].Decl, k.roots[root].Type = d, nil
			k.sizes[k.roots[root].Name] = celcost.Declared(d)
		}
	}
	set(objectRoot, object)
	set(oldObjectRoot, object)
	if k.hasParams {
		set(paramsRoot, params)
	}
	return k, nil
}

// The API server limits the size of a request's headers, which contain the user.
const (
	maxHeaders   = 1 << 20
	maxGroups    = maxHeaders / 3
	maxName      = 253
	maxLabel     = 63
	maxOperation = 7
)

func requestSizes() celcost.Value {
	text := func(n int64) celcost.Value { return celcost.Sized(n, celcost.Value{}) }
	kind := celcost.Fields(map[string]celcost.Value{"group": text(maxName), "version": text(maxLabel), "kind": text(maxLabel), "resource": text(maxLabel)})
	user := celcost.Fields(map[string]celcost.Value{
		"username": text(maxHeaders), "uid": text(maxHeaders), "groups": celcost.Sized(maxGroups, text(maxHeaders)),
		"extra": celcost.Sized(maxGroups, celcost.Sized(maxGroups, text(maxHeaders))),
	})
	return celcost.Fields(map[string]celcost.Value{
		"kind": kind, "resource": kind, "requestKind": kind, "requestResource": kind, "subResource": text(maxLabel), "requestSubResource": text(maxLabel),
		"name": text(maxName), "namespace": text(maxLabel), "operation": text(maxOperation), "userInfo": user,
	})
}

// compile reports no issues for an expression that is too complex, because Compile reports it.
func (k *typedCompiler) compile(s *source) TypedExpression {
	x := TypedExpression{Path: s.path, Source: s.text}
	checked, err := k.scope.CompileWith(declared(rootsOf(k.roots, s.part, false)), s.text)
	var complex *celenv.ComplexError
	var issues *celenv.IssuesError
	var t *cel.Type
	switch {
	case errors.As(err, &complex):
	case errors.As(err, &issues):
		x.Issues = err.Error()
		for i, e := range issues.Errors() {
			x.Errors = append(x.Errors, TypeError{e.ExprID, issues.Offset(i), e.Message})
		}
	case err != nil:
		x.Issues = err.Error()
	default:
		t = checked.OutputType()
		var value celcost.Value
		x.Cost, value = celcost.For(k.settings.version).Measure(checked, k.sizes)
		if s.part == partVariable {
			k.values[s.name] = value
		}
	}
	if s.part == partVariable {
		declareVariable(k.variables, s.name, t)
	}
	return x
}

// Config configures a Set. The zero value behaves like the API server of the newest Kubernetes
// version that this build supports.
type Config struct {
	// KubeVersion is the Kubernetes minor to emulate, such as "1.33". If it is empty, the newest
	// supported minor is used.
	KubeVersion string
	// Limits overrides the API server's cost limits: PerCall, and PerObject as the budget of one
	// policy with one binding and one params object. Zero fields keep the server's limits.
	Limits cost.Limits
	// MatchConditions overrides the budget of the matchConditions of a policy or webhook. Zero keeps
	// the server's.
	MatchConditions int64
	// New compiles expressions as the server does when a policy is new or changed: with the CEL
	// features of the previous minor. By default they are compiled as in a stored policy.
	New bool
	// Complete is set if the params objects among the documents are all that exist. A params object
	// that is missing then has the effect that parameterNotFoundAction defines. Otherwise, the
	// result is undecided.
	Complete bool
	// Namespaced holds the scope of custom kinds: whether each is namespaced. CRDs among the documents define it as
	// well. Without either, the scope of a paramKind is guessed.
	Namespaced map[schema.GroupKind]bool
	// Authorize returns the results of authorizer checks in expressions. If it is nil, the Roles, ClusterRoles, and
	// their bindings among the documents determine them; the groups system:masters and kubeadm:cluster-admins may do
	// anything. Without any of these objects, results that depend on other users' access are undecided.
	Authorize func(Access) Authorization
}

type settings struct {
	Config
	version types.Version
	env     *celenv.Env
}

func settingsOf(cfg Config) (settings, error) {
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return settings{}, err
	}
	cfg.Limits = cfg.Limits.WithDefaults()
	cfg.MatchConditions = cmp.Or(cfg.MatchConditions, celconfig.RuntimeCELCostBudgetMatchConditions)
	return settings{cfg, v, celenv.ForRules(v, cfg.New)}, nil
}
