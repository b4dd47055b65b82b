// Package httplimit bounds what clients nobody knows can hold of a server: its
// connections, the bytes of bodies and answers on their way, the time for them
// and the turns in which requests are decided. Where room runs out, what moves
// slowest makes way, so that a fast and small request is never held up by slow
// or large ones.
package httplimit

// How it works: a Listener (listener.go) counts connections and, when there are
// too many, closes the one that has waited longest for a request. A Transfer
// (transfer.go) is one body or answer on its way: it keeps a least pace, and
// takes the bytes that it holds from a Budget (budget.go) before they are read. What
// has come whole waits in Turns (turns.go), the lightest first.
//
// Why no library: netutil.LimitListener lets silent connections block new ones (TestListener). With the timeouts of
// http.Server and MaxBytesReader alone, a slow client holds a connection and its bytes for 30 seconds instead of two
// (TestServeSlowSenders, TestServeSlowReaders, TestServeUnread). A semaphore.Weighted serves in order of arrival, so a
// small request waits for large ones (TestServeSmallFirst).
