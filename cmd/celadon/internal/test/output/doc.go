// Package output prints what tests were found to ask of CRDs: coverage as text,
// lcov, JSON and HTML, mutants as text.
package output
