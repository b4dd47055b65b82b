package expr

import (
	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/celcost"
	"github.com/celadon-cel/celadon/internal/cel/upstream"
	"github.com/celadon-cel/celadon/types"
)

// Cost estimates the expression as the version that checked it does.
func (c *Checked) Cost() (cost.Estimate, error) {
	if upstream.CEL && c.Version.Minor == types.Newest {
		return celcost.Of(c.Env, c.AST, c.Decl)
	}
	return celcost.For(c.Version).Of(c.AST, c.Decl), nil
}
