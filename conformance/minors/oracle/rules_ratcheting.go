//go:build !minor28

package main

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

func usesOldSelf(r cel.CompilationResult) bool { return r.UsesOldSelf }

// old is nil for a create. With ratchet, validate ratchets like the strategy of the minor.
func validate(ctx context.Context, r *Resource, obj, old any, ratchet bool) (field.ErrorList, int64) {
	var options []cel.Option
	if ratchet && ratchets() {
		correlated := common.NewCorrelatedObject(obj, old, &model.Structural{Structural: r.Structural})
		options = append(options, cel.WithRatcheting(correlated))
	}
	return r.Rules.Validate(ctx, nil, r.Structural, obj, old, celconfig.RuntimeCELCostBudget, options...)
}
