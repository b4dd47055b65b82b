package rule

import (
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/internal/celcost"
)

// Cost is what cost.Of gives. An environment has dozens of options for what the
// functions of its libraries cost, and to set them takes as long as to estimate most
// rules; what calls none of these is estimated without.
func (c *Checked) Cost() (cost.Estimate, error) {
	checked := c.AST.NativeRep()
	if est, ok := celcost.Of(checked, c.Decl); ok {
		return cost.Estimate{Min: est.Min, Max: est.Max}, nil
	}
	if !plain(checked) {
		return cost.Of(c.Env, c.AST, c.Decl)
	}
	// The server's environments of all versions have this option.
	est, err := checker.Cost(checked, cost.Estimator(c.Decl), checker.PresenceTestHasCost(false))
	return cost.Estimate{Min: est.Min, Max: est.Max}, err
}

// plain is true of what calls no function for whose cost there is an option.
func plain(checked *ast.AST) bool {
	for _, ref := range checked.ReferenceMap() {
		for _, id := range ref.OverloadIDs {
			if !celcost.Plain(id) {
				return false
			}
		}
	}
	return true
}
