// Package mutation measures how well tests cover the rules and bounds of a CRD and the expressions
// of policies. It changes them one at a time, and checks whether a case then fails.
//
//	report, err := mutation.Run(ctx, suites, nil, mutation.Config{})
//	for _, m := range report.Mutants { … }
package mutation

// How it works: all cases are run once on the original CRD, recording in which writes each rule
// runs (baseline.go). The mutants of a rule are edits of its source (rewrite.go); the mutants of a schema are
// removed bounds (bounds.go). For each mutant, the engine is rebuilt with the changed rule or schema, and repeats
// the writes in which the rule ran until a case fails; that case kills the mutant. For a surviving mutant,
// x/analysis/prove tries to prove that it is equivalent to the original, and x/analysis/search looks for a write
// that distinguishes them (kill.go). The mutants of a policy are edits of its expressions (policy.go).
