// Package estimate estimates the cost of checked CEL expressions as the API server of a Kubernetes minor version does.
//
// [For] returns the model of a minor version, and [Model.Of] estimates an expression with it:
//
//	est := estimate.For(31).Of(checked.NativeRep(), declaration)
package estimate

// How it works: one walk over the tree returns, for each expression, its cost and the data that the parent needs: its
// size, the sizes of its entries, and its path. checker.Cost of cel-go stores these in maps by expression and looks up
// the declaration of each path from the root.
//
// All versions share the walk. Where they differ, it reads a feature or a table of the Model; see model.go.
