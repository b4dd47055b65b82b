// Package rerun does a command's work again whenever a file changes, for --watch.
package rerun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/watch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

// Run does a round, and another after each change of or below the paths, until
// the context ends or nobody reads any more. Each round says when it is; on a
// terminal it begins on an empty screen. What a round finds is its own to tell.
func Run(ctx context.Context, s command.Streams, paths []string, round func() error) error {
	warn := func(path string, err error) {
		if path == "" {
			s.Complain(fmt.Errorf("--watch: changes were lost, so all counts as changed: %w", err))
			return
		}
		s.Complain(fmt.Errorf("--watch: %s is not watched: %w", path, err))
	}
	w, err := watch.New(paths, warn)
	if err != nil {
		return fmt.Errorf("--watch: %w", err)
	}
	defer w.Close()
	w.Only = func(path string) bool { return slices.Contains(paths, path) || matters(path) }
	_, terminal := command.Width(s.Stdout)
	for what := ""; ; {
		if terminal {
			_, _ = io.WriteString(s.Stdout, clearScreen)
		}
		begin := time.Now().Format(time.TimeOnly)
		if what != "" {
			begin += ": " + what + " changed"
		}
		s.Complain(errors.New(begin))
		err := round()
		var exit *command.ExitError
		switch {
		case ctx.Err() != nil || errors.Is(err, syscall.EPIPE):
			return err
		case err != nil && (!errors.As(err, &exit) || exit.Err != nil):
			s.Complain(err)
		}
		var ok bool
		if what, ok = w.Wait(ctx); !ok {
			return &command.ExitError{Code: command.Interrupted}
		}
	}
}

// matters leaves out what is no input: a report may be written into a folder that
// is watched. A folder that is gone cannot be told from a file without a suffix.
func matters(path string) bool {
	info, err := os.Stat(path)
	return input.Readable(path) || err == nil && info.IsDir() || errors.Is(err, fs.ErrNotExist) && filepath.Ext(path) == ""
}

// clearScreen moves what was there out of sight, and not out of the terminal's
// memory.
const clearScreen = "\x1b[H\x1b[2J"
