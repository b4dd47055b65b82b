// Package fuzz holds the engine to the API server's own code on cases that
// nobody wrote: it makes up schemas, rules that use the whole function library,
// objects and old objects, and compares rules alone and the whole write path.
//
//	go test -v ./fuzz -worlds 100000
//	go test -fuzz FuzzWorlds -fuzztime 10m ./fuzz
//
// A run prints what it covered, and counts only if that is enough: see
// coverage.go.
package fuzz
