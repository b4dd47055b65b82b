// Package httplimit limits the resources of a server that unknown clients can hold: connections, bytes
// of request and response bodies, and time. When a limit is reached, the slowest client gives way, so that slow
// requests never delay fast ones.
package httplimit

// How it works: a Listener (listener.go) counts connections. If there are too many, it closes the
// connection that has waited longest for a request. A Transfer (transfer.go) is a request or response body in
// progress. It must keep a minimum pace, and takes the bytes it holds from a Budget (budget.go) before
// they are read.
//
// Why no library: docs/security.md promises that other clients are served. With netutil.LimitListener, silent
// connections block others (TestListener). With the timeouts of http.Server and MaxBytesReader alone, a slow client
// holds a connection and its bytes for 30 seconds instead of two (TestServeSlowSenders, TestServeSlowReaders,
// TestServeUnread).
