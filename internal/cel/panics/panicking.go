// Package panics identifies the function that panicked.
// A panic in a library that the API server also uses is reproduced as the server's result. A panic in Celadon's own
// code is always a bug.
package panics

import (
	"runtime"
	"strings"
)

// In returns the name of the function that panicked: the innermost function outside of package
// runtime. Call it from a deferred function while the panic unwinds. It returns "" if there is no
// panic.
func In() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for began, more := false, true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			began = true
		case began && !strings.HasPrefix(frame.Function, "runtime."):
			return frame.Function
		}
	}
	return ""
}
