package vet

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/engine"
)

// defaultRules runs rules over the defaults in a schema, under one budget as
// the API server does. Defaults that are refused for another reason are passed
// over.
type defaultRules struct {
	ctx         context.Context
	kubeVersion string
	refused     errorPaths
	budget      int64
	errs        field.ErrorList
	undecided   *engine.WorkLimitError
}

func newDefaultRules(ctx context.Context, kubeVersion string, refused errorPaths) *defaultRules {
	return &defaultRules{ctx: ctx, kubeVersion: kubeVersion, refused: refused, budget: celconfig.RuntimeCELCostBudget}
}

// walk goes the way of the API server: not into additionalProperties, where
// there are no defaults.
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
	if r.refused.defaultRefused(path.String()) {
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
	// an error means that rules are broken: those fail the default
	errs, left := r.decided(rules.Validate(r.ctx, path, value, value, r.budget))
	r.errs = append(r.errs, errs...)
	if len(errs) == 0 { // rules with optionalOldSelf see a new value too
		errs, alone := r.decided(rules.Validate(r.ctx, path, value, nil, r.budget))
		r.errs = append(r.errs, errs...)
		left = min(left, alone)
	}
	r.budget = left
	return nil
}

// decided takes out the error of a rule that asks for too much work.
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

// reached is a node without the rules that no part of a value gets to: they
// need not be compiled.
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

// reachedBelow is the child's node; of lists and maps with anything in them
// all rules are kept.
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

// bare is a node without its rules and those below.
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

// errorPaths are the fields that the API server complains of apart from rules.
type errorPaths []schemaError

// below is true when some error is at the path or below it.
func (e errorPaths) below(path string) bool {
	for _, err := range e {
		if isBelow(err.owner, path) {
			return true
		}
	}
	return false
}

// defaultRefused is true when rules do not get to see the default at path. An
// unknown field in it does not keep them from it, nor that no default may be there.
func (e errorPaths) defaultRefused(path string) bool {
	for _, err := range e {
		forbidden := err.Field == path && err.Type == field.ErrorTypeForbidden
		if isBelow(err.Field, path) && err.Detail != "must not have unknown fields" && !forbidden {
			return true
		}
	}
	return false
}

func isBelow(name, path string) bool {
	rest, ok := strings.CutPrefix(name, path)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
