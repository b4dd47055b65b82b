// Package output prints the results of measuring tests: coverage as text, lcov, JSON, and HTML, and
// mutants as text.
package output
