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
	return &Node{engine: &Engine{config: c.cfg, limits: c.limits}, decl: c.decls.FromSchema(nothing, types.Subtree), bare: true}, nil
}

// Bare reports whether n has no self; see BareNode.
func (n *Node) Bare() bool { return n.bare }

// newCompiler returns the compiler of n's expressions.
func (n *Node) newCompiler(env *celenv.Env) (*expr.Compiler, error) {
	limit := n.engine.limits.PerCall
	if n.bare {
		return expr.NewBareCompiler(env, n.decl, limit, n.badRule)
	}
	return expr.NewCompiler(env, n.decl, limit, n.badRule)
}
