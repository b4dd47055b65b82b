// Package cost tells what expressions may cost before they run, and keeps the
// budgets while they do.
//
// Four words, never one for another: a limit is a constant, a budget is what is
// left of one, a cost is a number of CEL cost units, an estimate is a range of
// costs.
//
//	env, _ := types.StoredEnv(types.Version{Minor: 37}).For(decl, false)
//	ast, _ := env.Compile("self.hosts.all(h, h != '')")
//	est, err := cost.Of(env, ast, decl)
//	total := cost.Mul(est.Max, cardinality.Times(decl))
//
// Units and estimates are those of
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#resource-use-by-validation-functions.
// The package is pure: it reads declarations and returns numbers.
package cost
