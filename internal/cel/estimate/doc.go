// Package estimate estimates what checked CEL costs as cel-go's checker.Cost does with
// the API server's estimator, several times faster: for an expression that it knows,
// Of gives the same numbers. Of any other it says no more than that, and
// checker.Cost is asked.
package estimate

// How it works: one walk over the tree that gives each expression its cost and what
// the expression above needs of it: its size, the sizes of its entries, and the
// declaration of its place. checker.Cost keeps these in maps by expression, writes a
// place as a slice of names, and looks a declaration up from the root each time; that
// is most of its work.
//
// Not known, and so checker.Cost's: functions of cel-go's extensions and of lists,
// binds, macros of two variables, maps and messages that the rule makes, bytes, and
// places that checker.Cost mistakes for others (place.go).
