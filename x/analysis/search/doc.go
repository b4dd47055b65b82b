// Package search finds objects that demonstrate the effect of a CRD's rules: an object that only
// one rule rejects, an object on which a rule runs and passes, an object on which it fails to
// evaluate or exceeds a cost limit, or an object that is accepted.
//
//	s, err := search.New(crd, e, "v1", search.Config{})
//	for _, rule := range s.Rules() {
//		a, err := s.Find(ctx, rule, search.Rejected)
//		if a.Status == search.Found {
//			fmt.Println(a.Witness.Object)
//		}
//	}
//
// Every witness has been validated by the engine. A search without a result proves nothing.
//
// To compare two forms of a CRD, such as the old and the new form, [Search.Rejection] looks for a write that
// one form rejects and the other admits.
package search

// How it works. The solver generates an object (start.go, generate.go) and changes a path in it until the rule has
// the wanted outcome there (truth.go, equal.go, loop.go, fail.go). Then it repairs everything else that the engine
// rejects: it makes other rules true and replaces values that violate the schema (repair.go, facts.go). This repeats
// until the engine's verdict is as wanted or the solver starts with a new object (solver.go). The search for a write
// that two forms of a CRD treat differently is in otherform.go. Witnesses are shrunk (shrink.go) or, for a full
// sample, grown (grow.go). oracle.go runs the engine.
//
// Randomness comes from the seed and the question, limits count steps instead of time, and no result depends on the
// order of a map, so a repeated run has the same results.
