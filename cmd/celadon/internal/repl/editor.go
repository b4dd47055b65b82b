package repl

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

// editor returns the user's editor as git determines it, $VISUAL or else $EDITOR, or nil if neither is
// set. The editor is run directly and not by a shell.
func editor() []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if command := strings.Fields(os.Getenv(name)); len(command) > 0 {
			return command
		}
	}
	return nil
}

// editText implements Host.EditText with an editor on the terminal. The text is edited in a folder that
// only the user can read.
func (h *host) editText(command []string) func(context.Context, string, []byte) ([]byte, error) {
	return func(ctx context.Context, name string, text []byte) (edited []byte, err error) {
		folder, err := os.MkdirTemp("", "celadon-edit-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(folder)
		path := filepath.Join(folder, filepath.Base(name))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], path)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = h.Stdin, h.Stdout, h.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("editor %s: %w: nothing has changed", command[0], err)
		}
		edited, err = input.ReadFile(path, maxFileText)
		if err != nil {
			return nil, fmt.Errorf("the edited text: %w", err)
		}
		return edited, nil
	}
}
