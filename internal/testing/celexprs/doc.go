// Package celexprs provides CEL expressions for tests: real rules, the expressions of upstream's
// tests, and generated expressions.
package celexprs
