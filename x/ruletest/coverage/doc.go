// Package coverage measures how thoroughly tests exercise the rules of a CRD: how often each rule
// ran, passed, and rejected an object, and how often its conditions were true and false.
//
//	rec := coverage.New()
//	w, err := rec.Watch(crd, e)
//	res, err := e.Validate(ctx, engine.Request{Object: obj, Observe: w.Observe})
//	report := rec.Report()
//
// It measures the expressions of admission policies in the same way; see [Recorder.WatchPolicies].
package coverage

// How it works. A rule is split into conditions, which are the leaves of nested &&, ||, !, and ?:
// (condition.go). After each run of a rule by the engine, the rule is evaluated again by a program
// with probes (rule.go), which count the values of each condition. The predicate of a macro is
// evaluated once per element. Rules that occur in several versions or variants of a CRD are merged
// (recorder.go, report.go).
