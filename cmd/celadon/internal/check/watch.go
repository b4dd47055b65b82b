package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/watching"
)

// watch checks, and checks again whenever a file below the paths changes, until
// it is interrupted. Each round says when it is; on a terminal it begins on an
// empty screen.
func (a *run) watch(ctx context.Context, o *Options, paths []string) error {
	warn := func(path string, err error) {
		if path == "" {
			a.Complain(fmt.Errorf("--watch: changes were lost, so all counts as changed: %w", err))
			return
		}
		a.Complain(fmt.Errorf("--watch: %s is not watched: %w", path, err))
	}
	watched := slices.Concat(paths, o.CRDs, o.Olds, o.CRDOlds)
	w, err := watching.New(watched, warn)
	if err != nil {
		return fmt.Errorf("--watch: %w", err)
	}
	defer w.Close()
	w.Only = func(path string) bool { // a report may be written into the folder
		info, err := os.Stat(path)
		return input.Readable(path) || slices.Contains(watched, path) || err == nil && info.IsDir()
	}
	_, terminal := cli.Width(a.Stdout)
	for what := ""; ; {
		if terminal {
			_, _ = io.WriteString(a.Stdout, clearScreen)
		}
		begin := time.Now().Format(time.TimeOnly)
		if what != "" {
			begin += ": " + what + " changed"
		}
		a.Complain(errors.New(begin))
		err := a.check(ctx, o, paths)
		var exit *cli.ExitError
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil && (!errors.As(err, &exit) || exit.Err != nil):
			a.Complain(err)
		}
		var ok bool
		if what, ok = w.Wait(ctx); !ok {
			return &cli.ExitError{Code: cli.Interrupted}
		}
	}
}

// clearScreen moves what was there out of sight, and not out of the terminal's
// memory.
const clearScreen = "\x1b[H\x1b[2J"
