// Package check checks parsed CEL as cel-go does, many times faster: for each
// expression that cel-go's checker accepts and that this one does, Checker.Check
// gives the same tree, types and references. Of any other it says no more than that
// it is not accepted; cel-go's checker, which is asked then, words what is wrong.
package check

// How it works: one walk over the tree, as cel-go's, that gives each node its type.
//
// The types that are not known yet (the items of [], the parameters A and B of an
// overload) are variables, numbered from 0; bound holds what each stands for. cel-go
// makes a copy of an overload with new variables in it for each call, and a copy of
// all bindings for each overload that it tries. Here an overload's parameters are
// numbered, too, and looked at with the number of its first variable beside it: that
// is what a term is. What a failed overload bound is taken back with undo.
//
// Not accepted, and so cel-go's: messages, and whatever is wrong.
