// Package suite implements the conformance suite that any implementation of CRD validation can run.
// Its cases are in the folder data, with the responses of the Kubernetes API server. The page
// docs/project/conformance-suite.md describes the format of the cases and the protocol:
//
//	go run ./suite/run -- python3 suite/example/example.py
//	go run ./suite/run -- go run ./suite/celadon
//
// The folder source has the writes from which TestSuite in package conformance generates the data.
// It records the responses of the real API server for the newest minor version, and the results of
// the API server's libraries for the others.
package suite

// How it works. Run (run.go) makes a request of each case and minor version, sends it to a Process
// (process.go), compares the response with the expected response (compare.go), and counts the result
// in a Report (report.go). Known (known.go) holds the differences that the user expects. The package
// needs only the standard library, so that it does not share code with any implementation.
