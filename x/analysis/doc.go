// Package analysis determines how the rules of a CRD can turn out. For each rule it looks for a write
// that the rule rejects, a write that it accepts, a write on which it fails to evaluate, or a write on
// which it exceeds a cost limit, and for a proof that no such write exists.
//
//	a, err := analysis.New(crd, e, "v1", analysis.Config{})
//	for _, rule := range a.Rules() {
//		answer, err := a.Ask(ctx, rule, search.Rejected)
//		fmt.Println(answer.Words(search.Rejected))
//	}
package analysis

// How it works. If a rejected object is wanted, Ask starts with a few objects of a search
// (x/analysis/search), because most rules reject one of them. Then it tries to prove that no such
// object exists (x/analysis/prove), which takes milliseconds. Without a proof it searches on. A search
// that finds nothing uses all of its steps or its work budget. For accepted objects, the search runs
// before the proof, because such an object usually exists.
//
// prove and search compile the rules separately. For the rules of real CRDs this takes less than 1 %
// of the time, so sharing is not worth the effort.
//
// An Analyzer is not safe for concurrent use, so InLanes creates one for each lane of a run.
