// Package compare compares Celadon with the libraries of each Kubernetes minor version. Its tests
// generate CRDs and writes, and compare the results of engine/vet and engine for a version with the
// program that is built from the libraries of that version (see command oracle):
//
//	make -C conformance oracles
//	CELADON_ORACLES=../bin/oracles go test -v -run TestGenerated ./minors/compare -crds 5000
//	CELADON_ORACLES=../bin/oracles go test -run TestRecorded ./minors/compare -update
//
// TestRecorded needs no programs, because it uses results recorded in testdata. The flag -update
// records them.
//
// Differences that are not errors of Celadon are listed in known.go, with the reason. A run fails if
// there are others, or if too many are listed.
package compare

// How it works: a Case (generate.go) is a CRD and writes of its objects. Both sides return a
// Verdict for each, which consists of lines of text: an Oracle (oracle.go) sends requests to a
// program, Server (server.go) calls Celadon. Differences (difference.go) are lines of one verdict
// that the other does not have. Where the libraries' result depends on the order of a Go map, a Run
// repeats the request.
