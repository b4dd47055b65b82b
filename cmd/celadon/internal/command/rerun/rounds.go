// Package rerun implements --watch: it repeats a command's work when a file changes.
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

// Run calls round once, and again after each change at or below paths, until ctx is done or round returns EPIPE.
// Before each round it writes the time to stderr, and clears the screen of a terminal. It does not report errors of
// round that only carry an exit code, because round has printed its own findings.
func Run(ctx context.Context, s command.Streams, paths []string, round func() error) error {
	warn := func(path string, err error) {
		if path == "" {
			s.Complain(fmt.Errorf("--watch: changes were lost, so everything is checked again: %w", err))
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
	for path := ""; ; {
		if terminal {
			_, _ = io.WriteString(s.Stdout, clearScreen)
		}
		begin := time.Now().Format(time.TimeOnly)
		if path != "" {
			begin += ": " + path + " changed"
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
		if path, ok = w.Wait(ctx); !ok {
			return &command.ExitError{Code: command.Interrupted}
		}
	}
}

// matters reports whether a change of path may affect the input. A path that no longer exists is assumed to have been
// a folder if it has no suffix.
func matters(path string) bool {
	info, err := os.Stat(path)
	return input.Readable(path) || err == nil && info.IsDir() || errors.Is(err, fs.ErrNotExist) && filepath.Ext(path) == ""
}

// clearScreen clears the visible screen and keeps the terminal's scrollback.
const clearScreen = "\x1b[H\x1b[2J"
