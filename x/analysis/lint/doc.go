// Package lint finds problems in a CRD's rules whose detection requires a witness or a proof: a rule fails to
// evaluate on an example object, a rule never rejects anything that the rest of the CRD lets through, or a path
// accepts no value. It complements engine/vet, which does not search for objects and finishes in milliseconds.
//
//	report, err := vet.VetCRD(ctx, crd, vet.Config{})
//	lints, err := lint.Find(ctx, crd, report, lint.Config{})
//	for _, l := range lints {
//		fmt.Println(l.Path, l.Index, l.Message, l.Rewrites)
//	}
//
// Use x/analysis for single questions about a rule.
package lint

// How it works. Lints are based only on results of x/analysis that are certain: witnesses and
// proofs (lint.go). A search without a result never causes a lint.
//
// A rule that fails on an object gets a guard (rewrite.go, x/analysis/guard): the condition A that reads the absent
// value becomes has(x) && A, or !has(x) || A. Wherever A has a value, the guarded condition has the same value. If an
// operator in CEL has a result although an operand fails, it has the same result for any value of that operand. So
// wherever the original rule has a value, the guarded rule has the same value. It remains to show that the guarded
// rule has a value on the witness, and fails on no other object. The latter is proved or searched.
