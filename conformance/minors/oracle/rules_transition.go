//go:build minor28

package main

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

func usesOldSelf(r cel.CompilationResult) bool { return r.TransitionRule }

func validate(ctx context.Context, r *Resource, obj, old any, _ bool) (field.ErrorList, int64) {
	return r.Rules.Validate(ctx, nil, r.Structural, obj, old, celconfig.RuntimeCELCostBudget)
}
