// Package coverage measures how thoroughly tests exercise the rules of a CRD: how often each rule
// ran, passed, and rejected an object, and which of its conditions were true, were false, or
// determined the outcome alone.
//
//	rec := coverage.New()
//	w, err := rec.Watch(crd, e)
//	res, err := e.Validate(ctx, engine.Request{Object: obj, Observe: w.Observe})
//	report := rec.Report()
//
// It measures the expressions of admission policies in the same way; see [Recorder.WatchPolicies].
package coverage

// How it works. A rule is split into decisions, which are nested uses of &&, ||, !, and ?: with
// conditions as leaves (decision.go). After each run of a rule by the engine, the rule is evaluated
// again by a program with probes (rule.go). The probes record the value of each condition for each
// evaluation of its decision; the predicate of a macro is evaluated once per element. At the end of
// a decision, the values are analyzed (masking.go). Rules that occur in several versions or
// variants of a CRD are merged (recorder.go, report.go).
