// Package server starts a real API server for custom resources with its own etcd, both inside the
// process. It needs no other programs, no network except the loopback interface, and no files except a
// temporary folder.
//
// Package conformance uses it with the newest Kubernetes libraries. The folder program links it with the
// libraries of go.mod, which are the oldest, or of another module file of this folder:
//
//	GOWORK=off go build -modfile=1.31.mod -o server-1.31 ./program
//	./server-1.31
//
// The program prints an Endpoint as one line of JSON when the server is ready, or one line with the
// reason why it does not start. It stops the server and ends when its stdin is closed. Build it without
// -trimpath, because the server looks for its certificates next to its source.
package server
