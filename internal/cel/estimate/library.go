package estimate

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/stdlib"
	celtypes "github.com/google/cel-go/common/types"

	"k8s.io/apiserver/pkg/cel/library"
)

// overloadSets holds the supported overloads.
type overloadSets struct{ standard, libraries map[string]bool }

// known returns the standard overloads of CEL, and those overloads of optionals and of Kubernetes'
// libraries whose cost depends only on the sizes of their operands.
var known = sync.OnceValue(func() *overloadSets {
	k := &overloadSets{standard: map[string]bool{}, libraries: map[string]bool{}}
	for _, function := range stdlib.Functions() {
		for _, overload := range function.OverloadDecls() {
			k.standard[overload.ID()] = true
		}
	}
	env, err := cel.NewCustomEnv(cel.OptionalTypes(), library.URLs(), library.Regex(), library.Quantity(), library.IP(), library.CIDR(), library.Format(), library.SemverLib())
	if err != nil {
		return k // library calls are left to checker.Cost
	}
	for _, function := range env.Functions() {
		for _, overload := range function.OverloadDecls() {
			k.libraries[overload.ID()] = !k.standard[overload.ID()]
		}
	}
	return k
})

// Plain reports whether the cost of an overload is independent of the environment's options.
func Plain(overload string) bool {
	k := known()
	return k.standard[overload] || k.libraries[overload]
}

// ofLibrary reports whether the call is an equality of values whose types are defined by a library.
func (o *operands) ofLibrary() bool {
	if o.function != operators.Equals {
		return false
	}
	for i := range o.args {
		if k := o.args[i].kind; k != celtypes.OpaqueKind && k != celtypes.StructKind {
			return false
		}
	}
	return true
}

// server estimates calls of library functions.
var server = &library.CostEstimator{}

func (o *operands) library(id string) (x priced) {
	nodes := make([]checker.AstNode, len(o.args))
	for i := range o.args {
		nodes[i] = &node{&o.args[i]}
	}
	var target *checker.AstNode
	if o.target != nil {
		var of checker.AstNode = &node{o.target}
		target = &of
	}
	est := server.EstimateCallCost(o.function, id, target, nodes)
	if est == nil {
		if id == overloads.Equals {
			return o.price(id)
		}
		return priced{cost: checker.FixedCostEstimate(1).Add(o.sum)}
	}
	x.cost = est.Add(o.sum)
	if est.ResultSize != nil {
		x.size = size{*est.ResultSize, true}
	}
	return x
}

// A node is an operand for the API server's estimator. It has no path, because its size already
// reflects the declaration.
type node struct{ *priced }

func (n *node) Path() []string       { return nil }
func (n *node) Type() *celtypes.Type { return n.typ }
func (n *node) Expr() ast.Expr       { return nil }

func (n *node) ComputedSize() *checker.SizeEstimate {
	if !n.size.known {
		return nil
	}
	return &n.size.SizeEstimate
}
