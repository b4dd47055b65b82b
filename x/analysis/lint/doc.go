// Package lint says of a CRD's rules what takes an object or a proof to say: that
// a rule fails to evaluate on this object, that it refuses nothing which the rest
// lets through, that a place accepts nothing. It goes on where engine/vet ends,
// which looks at the rules alone and is done in milliseconds.
//
//	report, err := vet.VetCRD(ctx, crd, vet.Config{})
//	lints, err := lint.Find(ctx, crd, report, lint.Config{})
//	for _, l := range lints {
//		fmt.Println(l.Path, l.Index, l.Message, l.Rewrites)
//	}
//
// To ask a single question about a rule, use x/analysis.
package lint

// How it works. Lints are made only of answers of x/analysis that are certain: a witness,
// or a proof (lint.go). That nothing was found is no lint.
//
// A rule that fails on an object is guarded (rewrite.go): the condition that reads
// what is absent, A, becomes has(x) && A, or !has(x) || A (x/analysis/guard). Either gives
// what A gave wherever A gave anything; since CEL's operators never take back a
// value for want of an error, so does the whole rule. What is to be shown of a
// rewrite beside that is that the witness has a value now, and that no other object
// is left without one, which is proved or searched.
