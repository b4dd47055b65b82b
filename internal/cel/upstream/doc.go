// Package upstream chooses between Celadon's own CEL front end and cel-go's. Both give the
// same trees, types, errors and estimates, so cel-go's is the reference for tests:
//
//	go test -tags upstreamcel ./...
package upstream
