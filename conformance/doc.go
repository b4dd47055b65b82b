// Package conformance holds package engine to a real Kubernetes API server:
// etcd and the server for custom resources run inside the test process, and
// each case is decided by both.
//
//	go test -v ./...                                  our own cases, in testdata
//	CELADON_CORPUS=dir:dir go test -v ./...           also corpora of real CRDs
//	CELADON_CORPUS=dir CELADON_FULL=1 go test -v -run TestServer -timeout 60m
//	go test -run TestCases -update                    rewrite what testdata wants
//
// Each mode ends with a line "mode: N passed, N failed", above it what failed,
// by reason:
//
//   - cases (TestCases): testdata/*.txtar on the server. See testdata/README.md.
//   - answers (TestAnswers): a corpus without a server, against its recorded
//     answers; where it has none, against what the maintainers expect.
//   - server (TestServer): a corpus on the server: a sample, or with
//     CELADON_FULL all of it.
//   - witnesses (TestWitnessesOnServer), world-witnesses (TestWitnessesOfWorlds):
//     the writes that x/analysis/search finds for the rules of a corpus, and of
//     made-up CRDs, with samples of each version. The server must answer what the
//     search says, and have stored the old objects by itself: of some rules, or
//     with CELADON_FULL of all.
//   - unit-calls (TestUnitCalls): calls recorded from the API server's own unit
//     tests, with the exact cost of each.
//   - vet-corpus, vet-mutants and vet-slips (TestVet): CRDs instead of objects.
//     A corpus's CRDs, spoilt copies of them, and copies with slips of the pen
//     are created and updated on the server, and engine/vet must say what it
//     says: a sample, or with CELADON_FULL all CRDs and many more copies.
//   - openapi (TestOpenAPI): the documents of celadon-openapi, against those that
//     the server publishes: of a sample, or with CELADON_FULL of all CRDs.
//   - explain (TestExplainCorpus, with CELADON_KUBECTL): the text of celadon
//     explain -o plaintext, against a kubectl's on the server: the same.
//
// Compared are the verdict, the HTTP code, status.details.causes as a multiset
// of reason, field and message, the persisted object, and on a server the
// warnings. Not compared are what differences.md calls different on purpose:
// names, the metadata that a server manages, and the order of causes.
//
// A case that fails for a known reason stands in known_failures.txt, as
// "mode case: reason". It then no longer fails the run, but it does once it
// passes.
//
// # Corpora
//
// A corpus is a folder with CRDs, one a file, and cases/<project>/*.yaml, whose
// documents are the cases:
//
//	crd: crds/p/things.yaml     # the CRD, from the corpus folder
//	alsoCrds: [..]              # variants of it that give the same verdict
//	version: v1                 # the version in the URL
//	subresource: status         # the update goes there
//	fieldValidation: Strict     # or Warn (the default), Ignore
//	ratcheting: true            # oldObject was stored under an older schema
//	expect: valid               # or invalid: what the maintainers demand
//	errorContains: [..]         # texts that the refusal has
//	errorIgnoreCase: true       # in any case
//	object: {..}                # what is written
//	oldObject: {..}             # what it replaces; without it, a create
//	expectObject: {..}          # what is persisted
//
// Optional are answers/*.jsonl, a recorded answer a line (file, index of the
// document, verdict, message, causes, persisted), and
// extra/apiextensions-cel-unit.jsonl, a recorded call a line.
//
// Maintainers wrote their texts for many Kubernetes versions, which print
// values differently, so texts are compared with those places left out; and
// where the server's own answer is known and has the text neither, it is not
// asked of us.
package conformance

// How it works. Server (server.go) starts both servers; Resource (resource.go)
// is one CRD in it. ReadCorpus and ReadOwn make a Case of each case, try
// (run.go) makes its requests, and compare (compare.go) says how the engine's
// Answer differs from the server's. The engine gets the very objects that went
// over the wire: the old one as the server gave it back.
//
// Cases are grouped by CRD, because a CRD takes seconds to be served and an
// object milliseconds. A namespace for each case keeps objects of one name
// apart; those of cluster-scoped kinds take turns, and are removed in etcd,
// whatever finalizers they have.
//
// An old object that today's schema refuses was let in by an older one. The
// long way to have such an object is to store it under the CRD without its
// validations and then to update the CRD; where many objects share a name that
// would be a CRD update, of a second or two, for each. All that stays of it is
// what is in etcd, and etcd is ours, so such objects are put there (stored.go).
// So are CRDs that the server refuses for the cost of their rules: once stored
// it serves them. TestStoredIsAsUpdated proves the two ways equal.
