// Package output prints what tests were found to ask of CRDs: coverage as text,
// lcov, JSON and HTML, mutants as text and as a mutation-testing-report.
package output
