// Package analysis answers questions about the rules of a CRD with an object or a proof:
// which write a rule rejects, which write it accepts, on which it fails to evaluate, and
// which makes it cost too much.
//
//	a, err := analysis.New(crd, e, "v1", analysis.Config{})
//	for _, rule := range a.Rules() {
//		answer, err := a.Ask(ctx, rule, search.Refused)
//		fmt.Println(answer.Words(search.Refused))
//	}
package analysis

// How it works. Ask first tries to prove that no such object exists (x/analysis/prove),
// which takes milliseconds. Without a proof it searches (x/analysis/search), which cannot
// end before all of its steps if there is nothing to find. An object that is accepted
// usually exists, so that search comes before the proof.
//
// Both engines compile the rules that they need. Over the rules of real CRDs that takes less
// than 1 % of the time, so they do not share what they compile.
//
// An Analyzer is not safe for concurrent use, so InLanes makes one for each lane of a run.
