// Package estimate estimates the cost of checked CEL expressions like cel-go's checker.Cost with
// the API server's estimator, but several times faster.
//
// Of returns the same numbers for the expressions that it supports. For others it returns false;
// use checker.Cost instead.
package estimate

// How it works: a single walk over the tree returns, for each expression, its cost and the data
// that the parent needs: its size, the sizes of its entries, and the declaration of its path.
// checker.Cost stores these in maps by expression, stores a path as a slice of names, and looks up
// each declaration from the root. This takes most of its time.
//
// Not supported: functions of cel-go's extensions and of lists, binds, macros with two variables,
// map and message literals, bytes literals, and paths that checker.Cost confuses with others (see
// place.go).
