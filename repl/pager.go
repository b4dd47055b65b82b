package repl

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// page shows a text that is longer than the screen through the pager; false
// where it is not, or there is none. What it gets is text that has been made
// printable, as all of a session's answers, and it cannot run commands for its
// user (LESSSECURE), who asked for no more than to read.
func (t *Terminal) page(ctx context.Context, text string) bool {
	width, height := t.size()
	if len(t.config.Pager) == 0 || height <= 0 || rows(text, width) < height {
		return false
	}
	path, err := exec.LookPath(t.config.Pager[0])
	if err != nil {
		return false
	}
	cmd := exec.CommandContext(ctx, path, t.config.Pager[1:]...)
	cmd.Stdin = strings.NewReader(text)
	cmd.Stdout, cmd.Stderr = t.out, t.out
	cmd.Env = append(os.Environ(), "LESSSECURE=1")
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	return cmd.Run() == nil || cmd.ProcessState != nil
}

// rows is how many rows a text takes on a screen.
func rows(text string, width int) int {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if width > 0 {
			n += max(0, termwidth.Width(strings.TrimSuffix(line, "\n"))-1) / width
		}
	}
	return n
}
