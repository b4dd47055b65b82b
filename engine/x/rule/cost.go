package rule

import (
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/internal/cel/estimate"
	"github.com/celadon-cel/celadon/internal/cel/upstream"
	"github.com/celadon-cel/celadon/types"
)

// Cost returns the same estimate as cost.Of. An environment has dozens of options for the costs of
// its libraries' functions, and setting them takes as long as estimating most rules. Expressions
// without such calls are estimated without the options.
func (c *Checked) Cost() (cost.Estimate, error) {
	checked := c.AST.NativeRep()
	if upstream.CEL {
		return cost.Of(c.Env, c.AST, c.Decl)
	}
	if est, ok := estimate.Of(checked, declarationOf(c.Decl)); ok {
		return cost.Estimate{Min: est.Min, Max: est.Max}, nil
	}
	if !hasOnlyPlainCalls(checked) {
		return cost.Of(c.Env, c.AST, c.Decl)
	}
	// The server's environments of all versions have this option.
	est, err := checker.Cost(checked, cost.Estimator(c.Decl), checker.PresenceTestHasCost(false))
	return cost.Estimate{Min: est.Min, Max: est.Max}, err
}

// A declaration adapts a *types.Decl to the estimate package.
type declaration struct{ decl *types.Decl }

func declarationOf(d *types.Decl) estimate.Declaration {
	if d == nil {
		return nil
	}
	return declaration{d}
}

func (d declaration) Child(step string) estimate.Declaration {
	return declarationOf(d.decl.Child(step))
}
func (d declaration) MaxSize() int64 { return d.decl.Max.Max }

// hasOnlyPlainCalls reports whether the expression calls no function whose cost is set by an
// option.
func hasOnlyPlainCalls(checked *ast.AST) bool {
	for _, ref := range checked.ReferenceMap() {
		for _, id := range ref.OverloadIDs {
			if !estimate.Plain(id) {
				return false
			}
		}
	}
	return true
}
