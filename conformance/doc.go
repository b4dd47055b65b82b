// Package conformance compares package engine with a real Kubernetes API server. etcd and the API
// server for custom resources run inside the test process, and both the server and the engine
// validate each case.
//
//	go test -v ./...                                  Celadon's own cases, in testdata
//	CELADON_CORPUS=dir:dir go test -v ./...           also corpora of real CRDs
//	CELADON_CORPUS=dir CELADON_LEVEL=long go test -v -run TestServer -timeout 60m
//	go test -run TestCases -update                    update the expected answers in testdata
//
// Each mode lists its failures, grouped by reason, and ends with a line
// "mode: N passed, N failed". The most important modes are:
//
//   - cases (TestCases): runs testdata/*.txtar on the server. See testdata/README.md.
//   - answers (TestAnswers): compares the engine with the recorded responses and the maintainers'
//     expectations of a corpus, without a server.
//   - server (TestServer): runs a sample of a corpus on the server, or all of it with
//     CELADON_LEVEL=long.
//   - witnesses (TestWitnessesOnServer), scenario-witnesses (TestWitnessesOfScenarios): write the
//     example objects that x/analysis/search finds for the rules of a corpus and of generated
//     CRDs, and samples of each version. The server's response must be as predicted, and the server
//     must have accepted the old objects. Some rules are tried, or all with CELADON_LEVEL=long.
//   - recipes (TestRecipes): creates the CRDs of examples/recipes on the server and runs the cases of
//     their suites.
//   - unit-calls (TestUnitCalls): repeats calls recorded from the API server's own unit tests,
//     and compares the results and the exact costs.
//   - vet-corpus, vet-mutants and vet-slips (TestVet): create and update CRDs on the server, and
//     compare the results of engine/vet. They use the CRDs of a corpus, corrupted copies, and
//     copies with typos: a sample, or with CELADON_LEVEL=long all CRDs and many more copies.
//   - TestSuite: generates the data of the conformance suite, and compares it with suite/data. See
//     package suite.
//   - explain (TestExplainCorpus, with CELADON_KUBECTL): compares x/publish with kubectl
//     explain.
//
// The tests compare the verdict, the HTTP code, status.details.causes as a multiset of reason,
// field, and message, the persisted object, and, if a server is running, the warnings. They do not
// compare the intentional differences listed in differences.md: names, metadata that a server
// manages, and the order of causes.
//
// A case that fails for a known reason is listed in known_failures.txt, as "mode case: reason".
// It does not fail the run, unless it passes.
//
// Package engine implements several Kubernetes minors, and the server in the test process has the
// newest one. The program in minors/server/program is built with the servers of three older minors, which
// TestMinors starts if CELADON_SERVERS names the folder of the programs (make -C conformance servers). Its modes are
// 1.31-crds, 1.31-cases, 1.31-recipes, 1.31-scenarios, and 1.31-schemas, and the same for the other minors.
// Without a server, the program minors/oracle, which is built for each minor, validates with the libraries of that
// minor.
//
// # Corpora
//
// A corpus is a folder with CRDs, one per file, and cases/<project>/*.yaml, whose documents are
// the cases:
//
//	crd: crds/p/things.yaml     # the CRD, relative to the corpus folder
//	alsoCrds: [..]              # variants of it with the same verdict
//	version: v1                 # the version in the URL
//	subresource: status         # the subresource to update
//	fieldValidation: Strict     # or Warn (the default), Ignore
//	ratcheting: true            # oldObject was stored under an older schema
//	expect: valid               # or invalid: the verdict that the maintainers expect
//	errorContains: [..]         # strings in the message of a rejection
//	errorIgnoreCase: true       # compare these strings regardless of case
//	object: {..}                # the object to write
//	oldObject: {..}             # the object that it replaces; without it, a create
//	expectObject: {..}          # the persisted object
//
// A corpus can also contain answers/*.jsonl, with one recorded response per line (file, index of
// the document, verdict, message, causes, persisted), and extra/apiextensions-cel-unit.jsonl, with
// one recorded call per line.
//
// The maintainers' messages were written for many Kubernetes versions, which format values
// differently. The comparison ignores those parts. If the server's own response is known and does
// not contain an expected message either, the engine need not return it.
package conformance

// How it works. Server (server.go) is a client of the API server and its etcd, which package
// minors/server starts in this process or in a program (minor.go); Resource (resource.go) is a CRD on it.
// ReadCorpus and ReadOwn return each case as a Case, try (run.go) makes its requests, and compare
// (compare.go) returns the differences between server and engine. The engine gets the same objects that
// were sent to the server, and the old object as read from it.
//
// Cases are grouped by CRD, because a CRD takes seconds to be served and an object takes
// milliseconds. Each case has its own namespace, so that objects of the same name do not conflict.
// Cases with cluster-scoped objects of the same name are serialized, and their objects are removed
// from etcd directly, regardless of finalizers.
//
// Some old objects are rejected by the current schema; an older schema accepted them. Such an
// object could be stored under the CRD without its validations, before the CRD is updated. That
// would take a CRD update of one or two seconds per object, if many objects share a name. Only the
// content of etcd remains of that procedure, so these objects are written to etcd directly
// (stored.go). The same applies to CRDs that the server rejects because of the cost of their
// rules: it serves them once they are stored. TestStoredIsAsUpdated checks that both ways have the
// same result.
