// Package search finds objects that show what a CRD's rules do: one that a rule
// refuses and nothing else does, one on which it runs and passes, one on which it
// fails to evaluate, one that is accepted.
//
//	s, err := search.New(crd, e, "v1", search.Config{})
//	for _, rule := range s.Rules() {
//		a, err := s.Find(ctx, rule, search.Refused)
//		if a.Status == search.Found {
//			fmt.Println(a.Witness.Object)
//		}
//	}
//
// A witness is always the engine's own verdict. That none was found proves
// nothing.
//
// Two forms of a CRD, as an old and a new one, are told apart by a search in one
// with the other beside it: then [Search.Refusal] is a write that one refuses and
// the other admits.
package search

// How it works: an object is begun (start.go, generate.go), one place in it is
// bent until the rule does there what is wanted (truth.go, equal.go, loop.go,
// fail.go), and all else that the engine complains of is repaired: rules by
// bending them to be true, the schema from the schema (repair.go, facts.go).
// That goes round until the verdict is what is wanted, or another object is begun
// (hunt.go). Goals that are no rule are in hold.go and apart.go. What was found is shrunk (shrink.go) or, for a full sample, grown
// (grow.go). The engine is asked in verdict.go, parts of rules are evaluated by
// x/trace in scope.go.
//
// All chance comes from the seed and the question, steps are counted, and no map
// is gone through unsorted: the same question has the same answer.
