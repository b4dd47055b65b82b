package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

// settle is how long a change may take: editors write a file in several steps.
const settle = 100 * time.Millisecond

// watch checks, and checks again whenever a file below the paths changes, until
// it is interrupted.
func (a *run) watch(ctx context.Context, o *Options, paths []string) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("--watch: %w", err)
	}
	defer w.Close()
	watched := slices.Concat(paths, o.CRDs, o.Olds, o.CRDOlds)
	for {
		for _, path := range watched {
			if err := watchBelow(w, path); err != nil {
				return fmt.Errorf("--watch: %w", err)
			}
		}
		err := a.check(ctx, o, paths)
		var exit *cli.ExitError
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil && (!errors.As(err, &exit) || exit.Err != nil):
			a.Complain(err)
		}
		name, err := changed(ctx, w, watched)
		if err != nil {
			return err
		}
		a.Complain(fmt.Errorf("%s changed", name))
	}
}

// watchBelow watches folders, also those of single files: an editor may put a
// new file in the place of the old one.
func watchBelow(w *fsnotify.Watcher, root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // it is reported by check
		case d.IsDir():
			return w.Add(path)
		case path == root:
			return w.Add(filepath.Dir(path))
		}
		return nil
	})
}

// changed waits for a change that matters, and for the end of those that follow
// at once.
func changed(ctx context.Context, w *fsnotify.Watcher, watched []string) (name string, err error) {
	var quiet <-chan time.Time
	for {
		select {
		case e := <-w.Events:
			if e.Op != fsnotify.Chmod && (input.Readable(e.Name) || slices.Contains(watched, filepath.Clean(e.Name)) || e.Has(fsnotify.Create)) {
				name, quiet = filepath.Clean(e.Name), time.After(settle)
			}
		case err := <-w.Errors:
			return "", fmt.Errorf("--watch: %w", err)
		case <-quiet:
			return name, nil
		case <-ctx.Done():
			return "", &cli.ExitError{Code: cli.Interrupted}
		}
	}
}
