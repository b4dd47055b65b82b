// Package cost estimates the cost of CEL expressions and provides the API server's cost limits.
//
// [Of] estimates an expression. [Cardinality] counts how often its rule can run in an object.
// [Total] adds up the estimates of a CRD version:
//
//	env, _ := types.StoredEnv(types.Version{Minor: 37}).For(decl, false)
//	ast, _ := env.Compile("self.hosts.all(h, h != '')")
//	est, err := cost.Of(env, ast, decl)
//	total := cost.Mul(est.Max, cardinality.Times(decl))
//
// The package uses four terms: a limit is a constant, a budget is the rest of a limit, a cost is a
// number of CEL cost units, and an estimate is a range of costs. Units and estimates are those of
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#resource-use-by-validation-functions.
//
// The functions only read declarations and return numbers; they have no side effects.
package cost
