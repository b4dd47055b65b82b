// Package budget proves with cost estimates that rules cannot exceed the cost limits. It is
// separate from x/analysis because engine/vet, which provides the estimates, has far more
// dependencies.
package budget

import (
	"context"
	"fmt"
	"math"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// Proofs returns a function for analysis.Config.CostProof. It is safe for concurrent use.
func Proofs(crd *apiextensionsv1.CustomResourceDefinition, kubeVersion string, limits cost.Limits) func(context.Context, engine.RuleRef) (string, error) {
	var mu sync.Mutex
	var known *estimates
	return func(ctx context.Context, rule engine.RuleRef) (_ string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if known == nil {
			if known, err = estimate(ctx, crd, kubeVersion); err != nil {
				return "", err
			}
		}
		return known.neverExceeds(rule, limits.WithDefaults()), nil
	}
}

type estimates struct {
	rules map[engine.RuleRef]uint64 // per evaluation, of rule or message
	whole map[string]uint64         // by version, all rules together
}

func estimate(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, kubeVersion string) (*estimates, error) {
	e := &estimates{map[engine.RuleRef]uint64{}, map[string]uint64{}}
	r, err := vet.VetCRD(ctx, crd, vet.Config{Stored: true, KubeVersion: kubeVersion})
	if err != nil {
		return nil, err
	}
	for _, v := range r.Versions {
		sum := uint64(0)
		for i := range v.Rules {
			r := &v.Rules[i]
			one := max(r.EstimatedCost, r.MessageExpressionCost)
			if r.Broken {
				one = math.MaxUint64
			}
			e.rules[engine.RuleRef{Version: v.Name, Path: r.Path, Index: r.Index}] = one
			sum = cost.Add(sum, cost.Add(r.EstimatedTotal, cost.Mul(r.MessageExpressionCost, r.Cardinality)))
			if r.Broken {
				sum = math.MaxUint64
			}
		}
		e.whole[v.Name] = sum
	}
	return e, nil
}

// neverExceeds returns why neither the rule nor all rules of its version together can exceed
// limits, or "" if they may.
func (e *estimates) neverExceeds(ref engine.RuleRef, limits cost.Limits) string {
	one, ok := e.rules[engine.RuleRef{Version: ref.Version, Path: ref.Path, Index: ref.Index}]
	whole := e.whole[ref.Version]
	if !ok || one > uint64(limits.PerCall) || whole > uint64(limits.PerObject) {
		return ""
	}
	return fmt.Sprintf("estimates: %s of %s units per run, %s of %s in total",
		phrase.Number(one), phrase.Number(uint64(limits.PerCall)), phrase.Number(whole), phrase.Number(uint64(limits.PerObject)))
}
