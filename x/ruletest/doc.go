// Package ruletest runs tests of CRDs, admission policies, and built-in kinds without a server. A suite is a list of
// objects, each with the response that is expected from the API server.
//
//	suite := ruletest.Parse("widgets.testsuite.yaml", 1, text)
//	r := ruletest.New(ruletest.Config{})
//	report := r.Run(ctx, suite, []*ruletest.CRD{{File: "crd.yaml", Definition: crd}}, nil)
//	for _, c := range report.Cases {
//		fmt.Println(c.Name, c.Outcome, c.Message)
//	}
//
// It supports two formats: OpenShift's suites, unchanged, and Celadon's own, a document of kind RuleTest. Both are
// decoded strictly: unknown keys and tests that would never run are reported as a [Problem] with its position.
package ruletest

// How it works: a document is decoded as kubectl does (internal/yaml/decode), and parsed again for
// its positions (reader.go with internal/yaml/position). openshift.go and own.go convert it to
// cases. The body of each case holds its writes and expectations. A Runner (run.go) compiles each
// CRD version once (target.go) and gives each body a trial for its writes (trial.go). The body
// compares the results with its expectations (check_openshift.go, check_own.go; object.go compares
// objects) and can derive the expectations that would pass (golden.go, update.go). The generators of
// suites (starter*.go) search for objects, reduce their differences from a base object, write the
// suite, and run it. Suites are untrusted, so their work is limited.
