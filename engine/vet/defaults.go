package vet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
)

// defaultRules runs rules on the defaults in a schema, with a shared budget as in the API server. It skips defaults
// that are rejected for another reason.
type defaultRules struct {
	ctx         context.Context
	kubeVersion string
	rejected    errorPaths
	budget      int64
	errs        field.ErrorList
	undecided   *engine.WorkLimitError
}

// walk visits the nodes that the API server visits: not additionalProperties, where defaults are forbidden.
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
	if !b.runsOn(value) {
		return nil
	}
	cfg := engine.Config{KubeVersion: r.kubeVersion, Subtree: !root, NoRatcheting: true}
	rules, err := engine.CompileRules(node, cfg)
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

// runsOn may return true although no rule runs on a part of value.
func (b *branch) runsOn(value any) bool {
	if len(b.props.XValidations) > 0 {
		return true
	}
	list, _ := value.([]any)
	object, _ := value.(map[string]any)
	return slices.ContainsFunc(b.children, func(child *branch) bool {
		switch child.kind {
		case atItems:
			return len(list) > 0
		case atValues:
			return len(object) > 0
		}
		v := object[child.name]
		return v != nil && child.runsOn(v)
	})
}

// errorPaths does not hold errors of rules.
type errorPaths []schemaError

func (e errorPaths) below(path string) bool {
	return slices.ContainsFunc(e, func(err schemaError) bool { return isBelow(err.owner, path) })
}

// Unknown fields in a default do not keep its rules from running, nor does the error that no default is allowed
// there.
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
