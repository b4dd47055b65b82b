// Package mutation measures how much tests notice: it changes the rules and the
// bounds of a CRD, one at a time, and looks whether some case then fails.
//
//	report, err := mutation.Run(ctx, suites, mutation.Config{})
//	for _, m := range report.Mutants { … }
package mutation

// How it works: all cases are run once on the CRD as it is, and it is noted in
// which writes each rule ran (baseline.go). A rule's mutants are changes of its
// text (rewrite.go), a schema's are bounds taken away (bounds.go). For each the
// engine is made anew in that one rule or schema, and asked about the writes in
// which the rule ran, until a case fails: that one killed the mutant (kill.go).
// Of what survives, x/analysis/prove is asked whether it differs at all, and
// x/analysis/search for a write that shows it (survivors.go).
