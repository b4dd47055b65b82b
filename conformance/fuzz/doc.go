// Package fuzz compares the engine with the API server's own code on generated cases. It generates
// schemas, rules that use the whole function library, objects, and old objects, and compares both
// the evaluation of rules and complete writes.
//
//	go test -v ./fuzz -scenarios 100000
//	go test -fuzz FuzzScenarios -fuzztime 10m ./fuzz
//
// A run prints its coverage and fails if it is too low. See coverage.go.
package fuzz
