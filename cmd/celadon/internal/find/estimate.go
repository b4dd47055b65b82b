package find

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// estimates say what the rules of a CRD may cost at most, which mostly shows that
// none can cost too much: there is nothing to look for then.
type estimates struct {
	rules map[engine.RuleRef]uint64 // one evaluation, of rule or message
	whole map[string]uint64         // by version, all rules together
}

// estimate says nothing of a CRD that vet refuses. The error is the context's, or a bug
// of ours.
func estimate(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (*estimates, error) {
	e := &estimates{map[engine.RuleRef]uint64{}, map[string]uint64{}}
	r, err := vet.VetCRD(ctx, crd, vet.Config{Stored: true})
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
			sum = atMost(bits.Add64(sum, r.EstimatedTotal, 0))
			high, message := bits.Mul64(r.MessageExpressionCost, r.Cardinality)
			sum = atMost(bits.Add64(sum, message, 0))
			if high > 0 || r.Broken {
				sum = math.MaxUint64
			}
		}
		e.whole[v.Name] = sum
	}
	return e, nil
}

// atMost is a sum that does not overflow.
func atMost(sum, carry uint64) uint64 {
	if carry > 0 {
		return math.MaxUint64
	}
	return sum
}

// never is why a rule cannot cost too much, nor all rules of its version together;
// "" where they may.
func (e *estimates) never(ref engine.RuleRef) string {
	limits := cost.Limits{}.WithDefaults()
	one, ok := e.rules[engine.RuleRef{Version: ref.Version, Path: ref.Path, Index: ref.Index}]
	whole := e.whole[ref.Version]
	if !ok || one > uint64(limits.PerCall) || whole > uint64(limits.PerObject) {
		return ""
	}
	return fmt.Sprintf("estimates: %s of %s units at a time, %s of %s in all",
		phrase.Number(one), phrase.Number(uint64(limits.PerCall)), phrase.Number(whole), phrase.Number(uint64(limits.PerObject)))
}
