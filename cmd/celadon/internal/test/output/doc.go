// Package output writes the results of measuring tests as text: coverage and mutants.
package output
