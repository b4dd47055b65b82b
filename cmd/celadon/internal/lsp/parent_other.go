//go:build !unix

package lsp

// gone reports whether a process has ended. It is always false here, because this platform has no
// such check. The server ends with the stream.
func gone(int) bool { return false }
