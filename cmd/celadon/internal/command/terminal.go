package command

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Width reports whether w is a terminal, and returns its number of columns, or 0 if that is unknown.
func Width(w io.Writer) (columns int, terminal bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, true
	}
	return columns, true
}

// Color reports whether w is a terminal whose user has not turned off colors.
func Color(w io.Writer) bool {
	_, terminal := Width(w)
	return terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
