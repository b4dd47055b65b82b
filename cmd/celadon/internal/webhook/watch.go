package webhook

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long nothing must happen before a change counts as whole;
	// settleTime is how long that is waited for.
	quiet      = 250 * time.Millisecond
	settleTime = 2 * time.Second
	// recheck is for file systems that tell of nothing.
	recheck = time.Minute
)

// watcher tells when files at or below its paths were written, made, moved or
// removed.
type watcher struct {
	paths  []string
	log    *slog.Logger
	events <-chan fsnotify.Event
	errors <-chan error
	// watch is told of a folder, again and again.
	watch func(path string) error
	close func() error
}

// newWatcher watches from now on; run tells of it.
func newWatcher(paths []string, log *slog.Logger) (*watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("cannot watch files: %w", err)
	}
	w := &watcher{paths: paths, log: log, events: notify.Events, errors: notify.Errors, watch: notify.Add, close: notify.Close}
	w.add()
	return w, nil
}

// add watches each path's folder, for the path may be replaced as a whole, and
// all folders below it. Those watched already stay as they are.
func (w *watcher) add() {
	for _, path := range w.paths {
		w.folder(filepath.Dir(filepath.Clean(path)))
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		_ = filepath.WalkDir(filepath.Clean(path)+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && !mountInternal(path) {
				w.folder(path)
			}
			return nil // what cannot be read is the reader's to say
		})
	}
}

func (w *watcher) folder(path string) {
	if err := w.watch(path); err != nil {
		w.log.Warn("folder not watched", "path", path, "error", err)
	}
}

// run calls changed once for all that happens in quick succession, when changed
// asked to be called again, and once a minute in any case. It ends with the
// context.
func (w *watcher) run(ctx context.Context, changed func() (again time.Duration)) {
	each := time.NewTicker(recheck)
	defer each.Stop()
	var settled, expired, asked <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-w.events:
			if !w.concerns(event) {
				continue
			}
			if expired == nil {
				expired = time.After(settleTime)
			}
			settled = time.After(quiet)
			continue
		case err := <-w.errors:
			// Events were lost: that is a change, too.
			w.log.Warn("watch", "error", err)
		case <-each.C:
		case <-settled:
		case <-expired:
		case <-asked:
		}
		settled, expired, asked = nil, nil, nil
		w.add()
		if again := changed(); again > 0 {
			asked = time.After(again)
		}
	}
}

// concerns leaves out what else happens in the folder of a path.
func (w *watcher) concerns(event fsnotify.Event) bool {
	if event.Op == fsnotify.Chmod {
		return false
	}
	name := filepath.Clean(event.Name)
	for _, path := range w.paths {
		path = filepath.Clean(path)
		below := strings.HasPrefix(name, strings.TrimSuffix(path, string(filepath.Separator))+string(filepath.Separator))
		// A mounted file is a link by way of ..data, which is what changes.
		mounted := filepath.Dir(name) == filepath.Dir(path) && mountInternal(filepath.Base(name))
		if name == path || below || mounted || path == "." {
			return true
		}
	}
	return false
}
