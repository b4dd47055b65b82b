package repl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/repl"
)

// maxFileText limits the size of files for :read and of edited documents, in bytes.
const maxFileText = 2 << 20

// readText implements Host.ReadText.
func (h *host) readText(path string) ([]byte, error) {
	return command.ReadFile(h.given, path, maxFileText)
}

// mayWrite implements Host.MayWrite. It returns an error if path, with all links followed, is outside of the work tree of
// the working directory (without git: outside of the working directory), or in its .git folder.
func mayWrite(path string) error {
	tree, err := worktree.Top(".")
	if err != nil {
		return err
	}
	if tree == "" {
		tree = "."
	}
	if !worktree.Inside(tree, path) {
		return fmt.Errorf("%s: outside of the tree: a file that :read runs can only write in the tree: enter this line yourself", path)
	}
	return nil
}

// startFile is the name of the file in the user's folder of settings whose lines a shell on a terminal
// runs first.
const startFile = "start.txt"

// runStartFile runs the lines of the user's start file, if there is one, and prints the replies.
func (h *host) runStartFile(ctx context.Context, s *repl.Session) {
	folder := userFolder("XDG_CONFIG_HOME", ".config")
	if folder == "" {
		return
	}
	path := filepath.Join(folder, startFile)
	text, err := input.ReadFile(path, maxFileText)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	replies := ""
	if err == nil {
		replies, err = s.Read(ctx, path, text, false)
	}
	if err != nil {
		replies += s.Problem(fmt.Errorf("%s: %w", path, err))
	}
	_, _ = fmt.Fprint(untrusted.NewWriter(h.Stdout), replies) // the prompt fails too if the terminal is gone
}

// onTerminal reports whether input and output are terminals.
func (h *host) onTerminal() bool {
	in, inFile := h.Stdin.(*os.File)
	out, outFile := h.Stdout.(*os.File)
	return inFile && outFile && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}
