// Package check type-checks parsed CEL expressions like cel-go's checker, but many times faster.
//
// If Checker.Check accepts an expression, it returns the same tree, types, and references as
// cel-go's checker. Otherwise it returns an error without details; run cel-go's checker, which
// either accepts the expression or returns error messages.
package check

// How it works: like cel-go's checker, this one walks the tree once and assigns a type to each
// node.
//
// Types that are not known yet (the items of [], the type parameters A and B of an overload) are
// variables, numbered from 0. bound maps each variable to its type. For each call, cel-go copies an
// overload to insert new variables, and it copies all bindings for each overload that it tries.
// Here, the type parameters of an overload are numbered too, and a term pairs such a type with the
// number of its first variable, so no copy is needed. undo removes the bindings of an overload that
// did not match.
//
// Message literals and all invalid expressions are rejected, and left to cel-go.
