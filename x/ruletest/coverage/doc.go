// Package coverage measures what tests ask of a CRD's rules: how often each rule
// ran, passed and refused, and which of its conditions were true, false, or
// decided alone.
//
//	rec := coverage.New()
//	w, err := rec.Watch(crd, e)
//	res, err := e.Validate(ctx, engine.Request{Object: obj, Observe: w.Observe})
//	report := rec.Report()
package coverage

// How it works: a rule is taken apart into decisions, nests of &&, ||, ! and ?:
// that end in conditions (decision.go). Beside the engine, each run of a rule is
// evaluated once more by a program with probes (rule.go), which write down what
// each condition came to in each evaluation of its decision, of a macro's
// predicate once an element. What was written down is weighed when a decision
// ends (masking.go). Rules that stand in several versions or variants of a CRD
// are one (recorder.go).
