//go:build !js

package repl

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// page displays text in the pager if it is longer than the screen, and reports whether it did. It
// returns false if no pager is configured. text must be printable, as all replies of a session are.
// LESSSECURE prevents less from running commands.
func (t *Terminal) page(ctx context.Context, text string) bool {
	width, height := t.size()
	if len(t.config.Pager) == 0 || height <= 0 || rows(text, width) < height {
		return false
	}
	path, err := exec.LookPath(t.config.Pager[0])
	if err != nil {
		return false
	}
	args := t.config.Pager[1:]
	if t.endsWithNewest() && strings.TrimSuffix(filepath.Base(path), ".exe") == "less" {
		args = append(slices.Clone(args), "+G")
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(text)
	cmd.Stdout, cmd.Stderr = t.out, t.out
	cmd.Env = append(os.Environ(), "LESSSECURE=1")
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	return cmd.Run() == nil || cmd.ProcessState != nil
}

// endsWithNewest reports whether the last line of the current reply is the one that the user most likely
// wants to see.
func (t *Terminal) endsWithNewest() bool {
	entries := t.session.history
	if len(entries) == 0 {
		return false
	}
	name, isCommand := strings.CutPrefix(entries[len(entries)-1], ":")
	cmd, ok := findCommand(name)
	return isCommand && ok && cmd.name == "history"
}

// rows returns the number of rows that text occupies on a screen.
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
