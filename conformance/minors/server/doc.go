// Package server starts a real API server for custom resources with its own etcd, both inside the
// process. It needs no other programs, no network except the loopback interface, and no files except a
// temporary folder.
//
// Package conformance uses it with the newest Kubernetes libraries. Each folder in ../servers links it
// with those of an older minor:
//
//	(cd ../servers/1.31 && GOWORK=off go build -o server-1.31)
//	server-1.31
//
// The program prints an Endpoint as one line of JSON when the server is ready, or one line with the
// reason why it does not start. It stops the server and ends when its stdin is closed. Build it without -trimpath, because the server looks for its
// certificates next to its source.
package server
