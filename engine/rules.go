package engine

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// Rules holds the compiled x-kubernetes-validations of a structural schema. It is immutable and
// safe for concurrent use.
type Rules struct {
	root    *ruleNode // nil if there are no rules
	schema  *schema.Structural
	server  server
	ratchet bool
	passes  sync.Pool // of *run
}

// Nodes without rules at or below them have no ruleNode.
type ruleNode struct {
	decl   *types.Decl
	schema *schema.Structural
	path   string
	rules  []*compiledRule
	// usesOld is set if a rule at this node mentions oldSelf. Otherwise oldSelf is not bound, so messageExpressions
	// cannot read it either.
	usesOld bool
	// transition is set if no rule at or below this node runs without an old value.
	transition bool
	// noType is set if the node has rules but no CEL type.
	noType error
	allOf  []*ruleNode
	fields []fieldRules // sorted by name
	values *ruleNode    // of a map
	items  *ruleNode    // of a list
}

type fieldRules struct {
	name string
	node *ruleNode
}

// CompileRules compiles all rules of a schema. If only some rules are invalid, it returns usable rules and
// *CompileErrors. Each rule whose expression is invalid then rejects every object for which it runs, as in the API
// server. The schema must not be modified afterwards.
func CompileRules(s *schema.Structural, cfg Config) (r *Rules, err error) {
	var c *compiler
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, c.bug(p)
		}
	}()
	if c, err = newCompiler(cfg); err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("no schema given: want a structural schema")
	}
	at := types.ResourceRoot
	if cfg.Subtree {
		at = types.Subtree
	}
	if r, err = c.compile("", s, c.decls.FromSchema(s, at)); err != nil {
		return nil, err
	}
	return r, c.err()
}

// Under allOf, s is the value validation that contains the rules, and everything else comes from node. Otherwise both
// are the same.
func (c *compiler) node(path string, at *sketch, s, node *schema.Structural, d *types.Decl) *ruleNode {
	n := &ruleNode{decl: d, schema: node, path: path}
	if len(s.XValidations) > 0 {
		c.rulesOf(n, s.XValidations)
	}
	if at.items != nil && node.Items != nil {
		n.items = c.node(path+"[*]", at.items, s.Items, node.Items, elem(d, node.Items))
	}
	c.fields(n, at, s, node)
	if at.values != nil && additional(node) != nil {
		n.values = c.node(path+"[*]", at.values, additional(s), additional(node), elem(d, additional(node)))
	}
	if c.server.has(rulesInAllOf) {
		for _, v := range at.allOf {
			if sub := c.node(path, v, v.nested, node, d); sub != nil {
				n.allOf = append(n.allOf, sub)
			}
		}
	}
	if len(n.rules) == 0 && n.noType == nil && n.items == nil && n.values == nil && len(n.fields) == 0 && len(n.allOf) == 0 {
		return nil
	}
	n.summarize()
	return n
}

// The nodes below must be summarized first.
func (n *ruleNode) summarize() {
	n.usesOld = slices.ContainsFunc(n.rules, (*compiledRule).usesOld)
	n.transition = n.onlyTransition()
}

func (n *ruleNode) onlyTransition() bool {
	for _, r := range n.rules {
		if !r.isTransition() {
			return false
		}
	}
	for sub := range n.below() {
		if !(*sub).transition {
			return false
		}
	}
	return n.noType == nil
}

// below yields pointers to the fields of n, in the order in which the rules run, so that callers can replace nodes.
func (n *ruleNode) below() iter.Seq[**ruleNode] {
	return func(yield func(**ruleNode) bool) {
		for i := range n.allOf {
			if !yield(&n.allOf[i]) {
				return
			}
		}
		if n.items != nil && !yield(&n.items) || n.values != nil && !yield(&n.values) {
			return
		}
		for i := range n.fields {
			if !yield(&n.fields[i].node) {
				return
			}
		}
	}
}

// If d has no CEL type, neither do its items or map values.
func elem(d *types.Decl, node *schema.Structural) *types.Decl {
	if d.Elem == nil {
		return &types.Decl{Schema: node}
	}
	return d.Elem
}

func (c *compiler) fields(n *ruleNode, at *sketch, s, node *schema.Structural) {
	for _, f := range at.fields {
		prop := s.Properties[f.name]
		nodeProp, ok := node.Properties[f.name]
		if !ok {
			continue
		}
		d := c.fieldDecl(n.decl, f.name, &nodeProp)
		if d == nil {
			continue
		}
		if sub := c.node(child(n.path, f.name), f, &prop, &nodeProp, d); sub != nil {
			n.fields = append(n.fields, fieldRules{f.name, sub})
		}
	}
}

// fieldDecl returns nil for properties without a CEL type, below which the API server runs no rules.
func (c *compiler) fieldDecl(parent *types.Decl, name string, prop *schema.Structural) *types.Decl {
	if _, ok := types.Escape(name); !ok {
		at := types.Subtree
		if prop.XEmbeddedResource {
			at = types.ResourceRoot
		}
		if d := c.decls.FromSchema(prop, at); d.Kind != types.Hidden {
			return d
		}
		return nil
	}
	if parent.Kind != types.Object {
		return nil
	}
	if f := parent.Fields[name]; f != nil && f.Visible() {
		return f.Decl
	}
	return nil
}

func (c *compiler) rulesOf(n *ruleNode, rules []apiextensionsv1.ValidationRule) {
	if n.decl.Kind == types.Hidden {
		n.noType = expr.ErrNoType
	}
	for i := range rules {
		r := &compiledRule{spec: &rules[i], ref: RuleRef{
			Version: c.version, Path: n.path, Index: i, Rule: rules[i].Rule,
			OptionalOldSelf: c.server.has(optionalOldSelf) && expr.HasOptionalOldSelf(rules[i].OptionalOldSelf),
		}}
		c.rule(r, n)
		if n.noType == nil {
			n.rules = append(n.rules, r)
		}
	}
}

// Validate evaluates the rules for obj, which is an object or a value of the schema's node. old is
// nil on create. The errors have the same form as upstream's. With ratcheting, a rule that does not
// mention oldSelf and is false for an unchanged value causes a warning instead
// (k8s.io/apiserver/pkg/warning). budget is in CEL cost units. A negative remaining budget means
// that evaluation stopped, that a rule exceeds the work limit (see WorkLimitError), or that Celadon
// has a bug; in the last two cases, errs contains an internal error.
func (r *Rules) Validate(ctx context.Context, path *field.Path, obj, old any, budget int64) (errs field.ErrorList, remaining int64) {
	defer func() {
		if p := recover(); p != nil {
			errs, remaining = append(errs, field.InternalError(path, internalError(p))), -1
		}
	}()
	errs, remaining, bug := r.validate(ctx, path, obj, old, budget)
	if bug != nil {
		return field.ErrorList{field.InternalError(path, bug)}, -1
	}
	return errs, remaining
}

func (r *Rules) validate(ctx context.Context, path *field.Path, obj, old any, budget int64) (errs field.ErrorList, remaining int64, bug *InternalError) {
	run := r.run(ctx, budget, nil)
	defer run.done()
	run.root(path, obj, old)
	if run.bug != nil {
		return nil, -1, run.bug
	}
	for _, f := range run.findings {
		errs = append(errs, f.err)
	}
	if run.unknown != nil {
		return append(errs, run.unknown.internal()), -1, nil
	}
	return errs, run.budget, nil
}
