package engine

import (
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/x/expr"
)

// How it works: an engine is an immutable tree. An engine that differs in a single rule has new
// nodes from the root down to that rule and shares all others. Bounds influence rules only through
// estimates, so an engine that differs in bounds shares all rules.

// Rules returns the rules of a version in the order in which they run, whether or not an object has
// values for them: Result.Rules holds the rules that ran on an object. Rules omits rules without an
// expression and rules at nodes that have no CEL type. If a lazy engine cannot compile them because
// of an internal error, Rules returns nil, and Validate returns the error.
func (e *Engine) Rules(version string) (refs []*RuleRef) {
	defer func() {
		if recover() != nil {
			refs = nil
		}
	}()
	v := e.versions[version]
	if v == nil {
		return nil
	}
	root := v.rules().root
	if root == nil {
		return nil
	}
	return root.refs(nil)
}

func (n *ruleNode) refs(all []*RuleRef) []*RuleRef {
	for _, r := range n.rules {
		if r.expr != nil || r.compileErr != "" {
			all = append(all, &r.ref)
		}
	}
	for sub := range n.below() {
		all = (*sub).refs(all)
	}
	return all
}

// A Rewriter derives engines that differ from its engine in a single rule or in the bounds of a
// schema. Nothing else is recompiled. It is not safe for concurrent use.
type Rewriter struct {
	Engine *Engine

	compiler *compiler // nil before the first rule
	made     int       // rules compiled by that compiler
}

// A compiler keeps everything that it compiled and limits the total complexity, so it is replaced after maxMade
// rules.
const maxMade = 1000

// Rule returns an engine in which spec replaces the rule at the given location, which must not be
// under allOf. If spec is nil, the rule is removed. Messages that quote the rule still quote the
// old expression, so a different text alone does not change results. Rule returns a *CompileError
// if the new rule does not compile.
func (w *Rewriter) Rule(at RuleRef, spec *apiextensionsv1.ValidationRule) (e *Engine, err error) {
	defer func() {
		if p := recover(); p != nil {
			e, err = nil, bugOf(&at, p)
		}
	}()
	v := w.Engine.versions[at.Version]
	if v == nil {
		return nil, fmt.Errorf("version %q: no such version", at.Version)
	}
	rules := v.rules()
	if rules.root == nil {
		return nil, fmt.Errorf("%s: no such rule", at.where(rulePart))
	}
	root, found, err := w.node(rules.root, at, spec)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fmt.Errorf("%s: no such rule", at.where(rulePart))
	}
	changed := *v
	made := &Rules{root: root, schema: rules.schema, server: rules.server, ratchet: rules.ratchet}
	changed.rules = func() *Rules { return made }
	return w.Engine.with(&changed), nil
}

// node returns a copy of n with the new rule. Rules under allOf are not found.
func (w *Rewriter) node(n *ruleNode, at RuleRef, spec *apiextensionsv1.ValidationRule) (_ *ruleNode, found bool, err error) {
	changed := *n
	i := slices.IndexFunc(n.rules, func(r *compiledRule) bool { return r.ref == at })
	if i >= 0 {
		changed.rules = slices.Clone(n.rules)
		if spec == nil {
			changed.rules = slices.Delete(changed.rules, i, i+1)
		} else {
			r, err := w.rule(n, at, spec)
			if err != nil {
				return nil, true, err
			}
			changed.rules[i] = r
		}
		changed.summarize()
		return &changed, true, nil
	}
	changed.fields = slices.Clone(n.fields)
	for sub := range changed.below() {
		if slices.Contains(n.allOf, *sub) {
			continue
		}
		made, found, err := w.node(*sub, at, spec)
		if err != nil {
			return nil, true, err
		}
		if found {
			*sub = made
			changed.transition = changed.onlyTransition()
			return &changed, true, nil
		}
	}
	return nil, false, nil
}

func (w *Rewriter) rule(n *ruleNode, at RuleRef, spec *apiextensionsv1.ValidationRule) (*compiledRule, error) {
	if w.compiler == nil || w.made >= maxMade {
		w.compiler, _ = newCompiler(w.Engine.info.Config) // it has been accepted before
		w.made = 0
	}
	w.made++
	if s, err := w.compiler.exprs.Scope(); err == nil {
		s.Forget()
	}
	was := at.Rule
	at.Rule, at.OptionalOldSelf = spec.Rule, w.Engine.server.has(optionalOldSelf) && expr.HasOptionalOldSelf(spec.OptionalOldSelf)
	r := &compiledRule{spec: spec, ref: at}
	w.compiler.errs = nil
	w.compiler.rule(r, n)
	if len(w.compiler.errs) > 0 {
		return nil, w.compiler.errs[0]
	}
	shown := *spec
	shown.Rule = was
	r.spec = &shown
	return r, nil
}

// Schema returns an engine that validates the values of a version against another schema. The
// schema may differ from the version's own in bounds, enums, patterns, formats, and required
// fields, but not in anything that affects rules, pruning, or defaults.
func (w *Rewriter) Schema(version string, source *apiextensionsv1.CustomResourceValidation) (e *Engine, err error) {
	defer catch(&e, &err)
	v := w.Engine.versions[version]
	if v == nil {
		return nil, fmt.Errorf("version %q: no such version", version)
	}
	changed := *v
	if changed.values, _, err = valuesOf(source, v.preserve, w.Engine.server); err != nil {
		return nil, err
	}
	changed.status = changed.values.Property("status")
	return w.Engine.with(&changed), nil
}

func (e *Engine) with(v *crdVersion) *Engine {
	changed := *e
	changed.versions = maps.Clone(e.versions)
	changed.versions[v.name] = v
	if e.storage.name == v.name {
		changed.storage = v
	}
	return &changed
}
