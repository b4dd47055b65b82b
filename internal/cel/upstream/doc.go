// Package upstream selects Celadon's own CEL front end or cel-go's. Both produce the same trees,
// types, errors, and estimates, so tests can use cel-go's as the reference:
//
//	go test -tags upstreamcel ./...
package upstream
