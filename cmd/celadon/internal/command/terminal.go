package command

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
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

// FitHelp fits the help of root and its subcommands to the width of a terminal.
func FitHelp(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		width, _ := Width(out)
		if width == 0 {
			help(cmd, args)
			return
		}
		var text strings.Builder
		cmd.SetOut(&text)
		help(cmd, args)
		cmd.SetOut(out)
		_, _ = io.WriteString(out, fitted(text.String(), width))
	})
}

// fitted breaks the lines of a help text that are wider than width. It joins the lines of a paragraph first, indents
// further lines of a table's second column, and does not change other indented lines, which are commands to copy.
func fitted(text string, width int) string {
	var b strings.Builder
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		for ; isProse(line) && i+1 < len(lines) && isProse(lines[i+1]); i++ {
			line += " " + lines[i+1]
		}
		if first := firstColumn.FindString(line); first != "" || isProse(line) {
			line = termwidth.FoldLine(line, width, len(first))
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// firstColumn matches the line of a table up to its second column.
var firstColumn = lazy.New(`^ +\S.*?\S {2,}`)

func isProse(line string) bool { return line != "" && !strings.ContainsAny(line[:1], " \t") }
