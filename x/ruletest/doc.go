// Package ruletest runs tests of CRDs: suites of objects, each with what the API
// server has to say of it, without a server.
//
//	suite := ruletest.Parse("widgets.testsuite.yaml", 1, text)
//	r := ruletest.New(ruletest.Config{})
//	report := r.Run(ctx, suite, []*ruletest.CRD{{File: "crd.yaml", Definition: crd}})
//	for _, c := range report.Cases {
//		fmt.Println(c.Name, c.Outcome, c.Message)
//	}
//
// Two formats are read: OpenShift's suites as they are, and Celadon's own, a
// document of kind RuleTest. Both are read strictly: what would never be tested is
// a [Problem] with its place, never a silent pass.
package ruletest

// How it works: a document is decoded as kubectl does (internal/yaml/decode), and read
// a second time for its places (reader.go over internal/yaml/position). openshift.go and
// own.go make cases of it, each with a body that knows its writes and what they have
// to give. A Runner (run.go) compiles each CRD version once (target.go), gives each
// body a trial to do its writes with (trial.go), and the body says what is not as
// expected (judge_openshift.go, judge_own.go; message.go compares texts, object.go
// objects), and what it would have to expect (golden.go, update.go). A first suite is
// searched for, brought near its base, written and run (starter*.go). Whoever wrote a suite may be hostile: what it can ask for is bounded
// (bounds.go).
