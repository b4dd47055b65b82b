// Package httplimit limits the resources of a server that unknown clients can hold: connections, bytes
// of request and response bodies, time, and turns for handling requests. When a limit is reached, the
// slowest client gives way, so that slow or large requests never delay fast and small requests.
package httplimit

// How it works: a Listener (listener.go) counts connections. If there are too many, it closes the
// connection that has waited longest for a request. A Transfer (transfer.go) is a request or response body in
// progress. It must keep a minimum pace, and takes the bytes it holds from a Budget (budget.go) before
// they are read. Complete requests wait in Turns (turns.go), the lightest first.
//
// Why no library: netutil.LimitListener lets silent connections block others (TestListener). With the timeouts of
// http.Server and MaxBytesReader alone, a slow client holds a connection and its bytes for 30 seconds instead of two
// (TestServeSlowSenders, TestServeSlowReaders, TestServeUnread). A semaphore.Weighted serves in order of arrival, so a
// small request waits for large requests (TestServeSmallFirst).
