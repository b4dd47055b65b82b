package command

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Width is how many columns the terminal has that w is, 0 where that is not
// known; false where w is none.
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

// Colour is true where w is a terminal whose user wants colours.
func Colour(w io.Writer) bool {
	_, terminal := Width(w)
	return terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
