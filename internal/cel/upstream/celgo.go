//go:build upstreamcel

package upstream

// CEL reports whether cel-go parses, checks, and estimates all expressions.
const CEL = true
