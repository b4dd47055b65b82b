package vet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine"
)

// defaultRules runs rules on the defaults in a schema, with a shared budget as in the API server.
// It skips defaults that are rejected for another reason.
type defaultRules struct {
	ctx         context.Context
	kubeVersion string
	rejected    errorPaths
	budget      int64
	errs        field.ErrorList
	undecided   *engine.WorkLimitError
}

func newDefaultRules(ctx context.Context, kubeVersion string, rejected errorPaths) *defaultRules {
	return &defaultRules{ctx: ctx, kubeVersion: kubeVersion, rejected: rejected, budget: celconfig.RuntimeCELCostBudget}
}

// walk visits the nodes that the API server visits: not additionalProperties, which have no defaults.
func (r *defaultRules) walk(path *field.Path, b *branch, root bool) error {
	if b.props.Default != nil {
		if err := r.run(path.Child("default"), b, root || b.props.XEmbeddedResource); err != nil {
			return err
		}
	}
	for _, child := range b.children {
		if r.budget < 0 {
			return nil
		}
		if child.kind == atValues {
			continue
		}
		if err := r.walk(child.below(path), child, false); err != nil {
			return err
		}
	}
	return nil
}

func (r *defaultRules) run(path *field.Path, b *branch, root bool) error {
	if r.rejected.defaultRejected(path.String()) {
		return nil
	}
	node, err := b.structuralNode()
	if err != nil || node.Default.Object == nil {
		return err
	}
	value := node.Default.Object
	reached, some := b.reached(node, value)
	if !some {
		return nil
	}
	rules, err := engine.CompileRules(reached, engine.Config{KubeVersion: r.kubeVersion, Subtree: !root, NoRatcheting: true})
	if rules == nil {
		return fmt.Errorf("rules of a default: %w", err)
	}
	// An error means that some rules do not compile; these fail the default.
	errs, left := r.decided(rules.Validate(r.ctx, path, value, value, r.budget))
	r.errs = append(r.errs, errs...)
	if len(errs) == 0 { // rules with optionalOldSelf also run on a new value
		errs, alone := r.decided(rules.Validate(r.ctx, path, value, nil, r.budget))
		r.errs = append(r.errs, errs...)
		left = min(left, alone)
	}
	r.budget = left
	return nil
}

// decided removes the error of a rule that exceeds the work limit, and records it.
func (r *defaultRules) decided(errs field.ErrorList, left int64) (field.ErrorList, int64) {
	last := len(errs) - 1
	if last < 0 || errs[last].Origin != engine.WorkLimit {
		return errs, left
	}
	if r.undecided == nil {
		r.undecided = &engine.WorkLimitError{Rule: engine.RuleRef{Path: errs[last].Field}, Part: "default", Reason: errs[last].Detail}
	}
	return errs[:last], left
}

// reached returns the node without rules that cannot run on any part of value, because they need
// not be compiled. some reports whether any rules are left.
func (b *branch) reached(s *schema.Structural, value any) (out *schema.Structural, some bool) {
	c := *s
	some = len(s.XValidations) > 0
	if len(s.Properties) > 0 {
		c.Properties = maps.Clone(s.Properties)
	}
	for _, child := range b.children {
		below, its := child.reachedBelow(s, value)
		some = some || its
		switch child.kind {
		case atItems:
			c.Items = below
		case atValues:
			c.AdditionalProperties = &schema.StructuralOrBool{Structural: below, Bool: s.AdditionalProperties.Bool}
		default:
			c.Properties[child.name] = *below
		}
	}
	return &c, some
}

// reachedBelow is like reached, for a child of parent. It keeps all rules of lists and maps that
// are not empty.
func (b *branch) reachedBelow(parent *schema.Structural, value any) (*schema.Structural, bool) {
	list, _ := value.([]any)
	object, _ := value.(map[string]any)
	switch b.kind {
	case atItems:
		if len(list) > 0 {
			return parent.Items, true
		}
		return b.bare(parent.Items), false
	case atValues:
		if len(object) > 0 {
			return parent.AdditionalProperties.Structural, true
		}
		return b.bare(parent.AdditionalProperties.Structural), false
	}
	prop := parent.Properties[b.name]
	if v := object[b.name]; v != nil {
		return b.reached(&prop, v)
	}
	return b.bare(&prop), false
}

// bare returns the node without its rules and those of its descendants.
func (b *branch) bare(s *schema.Structural) *schema.Structural {
	c := *s
	c.XValidations = nil
	if len(s.Properties) > 0 {
		c.Properties = maps.Clone(s.Properties)
	}
	for _, child := range b.children {
		switch child.kind {
		case atItems:
			c.Items = child.bare(s.Items)
		case atValues:
			c.AdditionalProperties = &schema.StructuralOrBool{Structural: child.bare(s.AdditionalProperties.Structural), Bool: s.AdditionalProperties.Bool}
		default:
			prop := s.Properties[child.name]
			c.Properties[child.name] = *child.bare(&prop)
		}
	}
	return &c
}

// errorPaths holds the API server's errors apart from those of rules.
type errorPaths []schemaError

// below reports whether an error is at or below the path.
func (e errorPaths) below(path string) bool {
	return slices.ContainsFunc(e, func(err schemaError) bool { return isBelow(err.owner, path) })
}

// defaultRejected reports whether errors keep rules from running on the default at path. Unknown
// fields in the default do not, nor does the error that no default is allowed there.
func (e errorPaths) defaultRejected(path string) bool {
	return slices.ContainsFunc(e, func(err schemaError) bool {
		forbidden := err.Field == path && err.Type == field.ErrorTypeForbidden
		return isBelow(err.Field, path) && err.Detail != "must not have unknown fields" && !forbidden
	})
}

func isBelow(name, path string) bool {
	rest, ok := strings.CutPrefix(name, path)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
