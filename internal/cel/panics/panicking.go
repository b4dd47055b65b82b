// Package panics tells whose code panics: a defect of the libraries that an API
// server is built of is the server's answer too, one of Celadon's own never is.
package panics

import (
	"runtime"
	"strings"
)

// In is, called by a deferred function while a panic is on its way, the name of the
// function that panics: the innermost that is not the runtime's.
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
