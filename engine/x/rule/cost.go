package rule

import (
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/internal/cel/estimate"
	"github.com/celadon-cel/celadon/internal/cel/upstream"
	"github.com/celadon-cel/celadon/types"
)

// Cost is what cost.Of gives. An environment has dozens of options for what the
// functions of its libraries cost, and to set them takes as long as to estimate most
// rules; what calls none of these is estimated without.
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

// declaration is a *types.Decl for the estimate.
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

// hasOnlyPlainCalls is true of what calls no function for whose cost there is an option.
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
