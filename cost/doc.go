// Package cost provides the API server's limits for the cost of CEL expressions, and adds up
// estimates.
//
// [Cardinality] counts how often a rule can run in an object. [Total] adds up the estimates of a CRD
// version. Package engine estimates expressions:
//
//	x, err := node.Compile("self.hosts.all(h, h != '')") // node is an *engine.Node
//	total := cost.Mul(x.Estimate.Max, cardinality.Times(node.Decl))
//
// The package uses four terms: a limit is a constant, a budget is the rest of a limit, a cost is a
// number of CEL cost units, and an estimate is a range of costs. Units and estimates are defined at
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#resource-use-by-validation-functions.
package cost
