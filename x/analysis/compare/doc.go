// Package compare determines how a change of a CRD affects objects. For each change of a rule or of the schema it
// reports an object that the change breaks, a proof that it breaks nothing, or how much was searched.
//
//	r, err := compare.CRDs(ctx, before, after, compare.Config{})
//	for _, c := range r.Changes {
//		fmt.Println(c.Version, c.Path, c.Subject, c.Effect)
//	}
//
// The package does no I/O.
package compare

// How it works. The schemas of two versions are walked in parallel (walk.go), and their differences
// are listed: in the CRD's own fields (crd.go), in constraints on values (facet.go), and in rules
// (rules.go). Each change becomes at most two goals, one per direction. A goal is a CEL rule that
// expresses a requirement of only one side. For example, a shorter maxLength becomes size(self) <= 10.
// The rule is added to the side that does not require it. If x/analysis/prove shows that
// it never rejects anything there, the change takes nothing away. Objects that x/analysis/search finds
// to be rejected by it are broken by the change (ask.go). In this way, rules and schema constraints
// share the same proofs and searches, and each takes the other into account.
//
// A witness of a goal counts only if the engines of both complete CRDs confirm it (show.go). If CEL
// cannot express a requirement (a format, a null, another type), sample values are inserted at the
// changed path, and the engines decide (try.go).
