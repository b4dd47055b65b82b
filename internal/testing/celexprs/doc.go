// Package celexprs has CEL expressions for tests: real rules, the texts of upstream's
// own tests, and such as are made up.
package celexprs
