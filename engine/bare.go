package engine

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/types"
)

// BareNode returns a node for expressions without a CRD: self and oldSelf are not declared, so they
// do not compile. Its Decl is a placeholder that no expression can refer to.
func BareNode(cfg Config) (*Node, error) {
	c, err := newCompiler(cfg)
	if err != nil {
		return nil, err
	}
	nothing := &schema.Structural{Generic: schema.Generic{Type: "boolean"}}
	return &Node{Config: c.cfg, Decl: c.decls.FromSchema(nothing, types.Subtree), Bare: true}, nil
}

// newCompiler returns the compiler of n's expressions.
func (n *Node) newCompiler() (*expr.Compiler, error) {
	env := celenv.ForRules(n.Decl.Version(), n.Config.Expressions == New)
	return expr.NewCompiler(env, n.Decl, n.Bare, n.Config.Limits.PerCall, n.badRule)
}
