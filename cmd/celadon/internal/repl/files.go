package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/repl"
)

// maxFileText limits the size of suites, of files for :read, and of edited texts, in bytes.
const maxFileText = 8 << 20

// readText implements Host.ReadText.
func readText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, input.WithoutPath(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileText+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, input.WithoutPath(err))
	case len(text) > maxFileText:
		return nil, fmt.Errorf("%s: over %d MiB: want a smaller file", path, maxFileText>>20)
	}
	return text, nil
}

// writeText implements Host.WriteText.
func writeText(path string, before, after []byte) error {
	if before != nil {
		return outfile.Replace(path, before, after)
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: the file exists: use another FILE", path)
	}
	return outfile.Write(path, after)
}

// stamp implements Host.Stamp. It returns the file's modification time and size.
func stamp(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, input.WithoutPath(err))
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size()), nil
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
	text, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	replies := ""
	if err == nil {
		replies, err = s.Read(ctx, path, text, false)
	}
	if err != nil {
		replies += s.Problem(err)
	}
	_, _ = fmt.Fprint(untrusted.NewWriter(h.Stdout), replies) // the prompt fails too if the terminal is gone
}

// onTerminal reports whether input and output are terminals.
func (h *host) onTerminal() bool {
	in, inFile := h.Stdin.(*os.File)
	out, outFile := h.Stdout.(*os.File)
	return inFile && outFile && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}
