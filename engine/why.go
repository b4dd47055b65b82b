package engine

import (
	"errors"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/types"
)

// Why is what decided one failed rule.
type Why struct {
	// Rule is the expression.
	Rule string
	// Values are the parts of the rule that decided and what they were, in the
	// order of the rule.
	Values []WhyValue
}

// WhyValue is a part of a rule and its value, in the form of decoded JSON.
type WhyValue struct {
	Expr  string
	Value any
}

// Explainer tells why rules failed. It is safe for concurrent use and
// remembers what it compiled.
type Explainer struct {
	engine   *Engine
	env      func() (*types.Env, error)
	envs     sync.Map // of envKey to *cel.Env
	compiled sync.Map // of compiledKey to *tracked
}

type envKey struct {
	decl     *types.Decl
	optional bool
}

// Explainer makes one.
func (e *Engine) Explainer() *Explainer {
	return &Explainer{engine: e, env: sync.OnceValues(func() (*types.Env, error) {
		v, err := types.ParseVersion(e.config.KubeVersion)
		if err != nil {
			return nil, err
		}
		if e.config.Expressions == New {
			return types.NewRulesEnv(v), nil
		}
		return types.StoredEnv(v), nil
	})}
}

// Why explains the causes of a refusal, each nil where no rule made the cause
// or where it cannot be told. It never changes what was decided.
func (x *Explainer) Why(req Request, causes []Cause) (whys []*Why) {
	whys = make([]*Why, len(causes))
	defer func() { _ = recover() }() // an explanation is not worth a failure
	var self, old map[string]any
	for i, cause := range causes {
		if cause.Rule == nil {
			continue
		}
		if self == nil {
			var err error
			if self, old, err = x.engine.seenByRules(req); err != nil {
				return whys
			}
		}
		if why, err := x.why(cause, self, old); err == nil {
			whys[i] = why
		}
	}
	return whys
}

// seenByRules are the new and the old object in the form that rules see.
func (e *Engine) seenByRules(req Request) (self, old map[string]any, err error) {
	obj := req.Object
	if obj == nil {
		if obj, err = Decode(req.Raw); err != nil {
			return nil, nil, err
		}
	}
	if self, err = e.Prepare(obj); err != nil {
		return nil, nil, err
	}
	v := e.versions[versionOf(self)]
	if req.OldObject == nil {
		if v.hasStatus {
			delete(self, "status")
		}
		return self, nil, nil
	}
	if old, err = e.stored(req.OldObject, v); err != nil {
		return nil, nil, err
	}
	if req.Subresource == "status" {
		status, ok := self["status"]
		self = withStatus(old, status, ok)
	} else if v.hasStatus {
		status, ok := old["status"]
		self = withStatus(self, status, ok)
	}
	return self, old, nil
}

func withStatus(obj map[string]any, status any, ok bool) map[string]any {
	out := make(map[string]any, len(obj)+1)
	for name, v := range obj {
		out[name] = v
	}
	delete(out, "status")
	if ok {
		out["status"] = status
	}
	return out
}

var errNotFound = errors.New("the cause's place is not found in the object")

func (x *Explainer) why(cause Cause, self, old map[string]any) (*Why, error) {
	node, err := x.engine.At(cause.Rule.Version, cause.Rule.Path)
	if err != nil {
		return nil, err
	}
	at, atOld, err := x.values(cause, self, old)
	if err != nil {
		return nil, err
	}
	prog, err := x.compile(*cause.Rule, node.decl)
	if err != nil {
		return nil, err
	}
	return prog.run(node.decl, at, atOld)
}

// values follows the rule's path in both objects, taking list indexes and map
// keys from the cause's field.
func (x *Explainer) values(cause Cause, self, old any) (at, atOld any, err error) {
	places, err := ParsePath(cause.Rule.Path)
	if err != nil {
		return nil, nil, err
	}
	steps, err := ParsePath(cause.Field)
	if err != nil || len(steps) < len(places) {
		if len(places) > 0 {
			return nil, nil, errNotFound
		}
	}
	d := x.engine.versions[cause.Rule.Version].rules.decl
	for i, place := range places {
		step := place
		if place.Any {
			step = steps[i]
		}
		if self, old, err = follow(d, step, self, old); err != nil {
			return nil, nil, err
		}
		if d, err = descend(d, place); err != nil {
			return nil, nil, err
		}
	}
	return self, old, nil
}

func follow(d *types.Decl, step Step, self, old any) (any, any, error) {
	switch self := self.(type) {
	case []any:
		if !step.Item || step.Index >= len(self) {
			return nil, nil, errNotFound
		}
		item := self[step.Index]
		if old, ok := old.([]any); ok && len(old) > 0 && isMapList(d.Schema) {
			return item, oldItems(d.Schema, old).Get(item), nil
		}
		return item, nil, nil
	case map[string]any:
		name := step.Name
		if step.Item {
			name = fmt.Sprint(step.Index) // a key that looks like an index
		}
		v, ok := self[name]
		if !ok {
			return nil, nil, errNotFound
		}
		before, _ := old.(map[string]any)
		return v, before[name], nil
	}
	return nil, nil, errNotFound
}

type compiledKey struct {
	RuleRef
	optional bool
}

// compile compiles a rule so that its parts' values can be seen.
func (x *Explainer) compile(ref RuleRef, d *types.Decl) (*tracked, error) {
	key := compiledKey{RuleRef: ref}
	if rules := d.Schema.XValidations; ref.Index < len(rules) && rules[ref.Index].Rule == ref.Rule {
		optional := rules[ref.Index].OptionalOldSelf
		key.optional = optional != nil && *optional
	}
	if found, ok := x.compiled.Load(key); ok {
		return found.(*tracked), nil
	}
	env, err := x.envAt(envKey{d, key.optional})
	if err != nil {
		return nil, err
	}
	checked, issues := env.Compile(ref.Rule)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	prog, err := env.Program(checked,
		cel.EvalOptions(cel.OptTrackState),
		cel.CostLimit(uint64(x.engine.limits.PerCall)),
		cel.CustomDecorator(watch(loopsOf(checked.NativeRep().Expr()))),
	)
	if err != nil {
		return nil, err
	}
	t := &tracked{ast: checked, prog: prog, optional: key.optional}
	x.compiled.Store(key, t)
	return t, nil
}

// envAt is the environment of a place, which remembers macros.
func (x *Explainer) envAt(key envKey) (*cel.Env, error) {
	if found, ok := x.envs.Load(key); ok {
		return found.(*cel.Env), nil
	}
	base, err := x.env()
	if err != nil {
		return nil, err
	}
	env, err := base.For(key.decl, key.optional)
	if err == nil {
		env, err = env.Extend(cel.EnableMacroCallTracking())
	}
	if err != nil {
		return nil, err
	}
	x.envs.Store(key, env)
	return env, nil
}
