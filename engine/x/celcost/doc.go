// Package celcost estimates the cost of checked CEL expressions.
//
// [Of] estimates an expression as the newest Kubernetes version does, and [For] returns the model of
// another version.
package celcost
