// Package watch reports changes of files.
package watch

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// A change is complete when no event has arrived for quiet, or after settleTime at the latest.
	quiet      = 250 * time.Millisecond
	settleTime = 2 * time.Second
	// recheck is the interval of Run's unconditional calls, for file systems that send no events.
	recheck = time.Minute
)

// A Watcher reports when files at or below its paths are written, created, moved, or removed.
type Watcher struct {
	paths  []string
	warn   func(path string, err error)
	events <-chan fsnotify.Event
	errors <-chan error
	// Only reports whether a change of path matters; nil means that all do. Set it before Run or Wait.
	Only func(path string) bool
	// watch adds a folder. It can be called repeatedly for the same folder.
	watch func(path string) error
	close func() error
}

// New starts to watch paths: files, and folders with everything below them except hidden folders. Call Run or Wait
// to receive the changes. warn is called for each path that cannot be watched, and with the path "" if events were
// lost.
func New(paths []string, warn func(path string, err error)) (*Watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("cannot watch files: %w", err)
	}
	w := &Watcher{paths: paths, warn: warn, events: notify.Events, errors: notify.Errors, watch: notify.Add, close: notify.Close}
	w.add()
	return w, nil
}

// add watches the folder of each path, because the path itself may be replaced. If the path is a folder, add
// also watches that folder and all folders below it, except hidden ones. It can be called again to add new
// folders.
func (w *Watcher) add() {
	for _, path := range w.paths {
		w.folder(filepath.Dir(filepath.Clean(path)))
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		_ = filepath.WalkDir(filepath.Clean(path)+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || !d.IsDir():
			case strings.HasPrefix(d.Name(), ".") && !within(path, w.paths):
				return fs.SkipDir // readers skip hidden folders as well
			default:
				w.folder(path)
			}
			return nil // reading the folder will report the error
		})
	}
}

func within(path string, paths []string) bool {
	return slices.ContainsFunc(paths, func(given string) bool { return filepath.Clean(given) == filepath.Clean(path) })
}

func (w *Watcher) folder(path string) {
	if err := w.watch(path); err != nil {
		w.warn(path, err)
	}
}

// Close stops watching.
func (w *Watcher) Close() error { return w.close() }

// Run calls changed after each series of events, when the duration that changed returned has passed (if
// positive), and once a minute in any case. It returns when ctx is done or w is closed.
func (w *Watcher) Run(ctx context.Context, changed func() (again time.Duration)) {
	each := time.NewTicker(recheck)
	defer each.Stop()
	var requested <-chan time.Time
	for {
		if _, ok := w.next(ctx, each.C, requested); !ok {
			return
		}
		requested = nil
		if again := changed(); again > 0 {
			requested = time.After(again)
		}
	}
}

// Wait blocks until a series of events has ended and returns the first path that changed. It returns at once
// if events are lost; the path is then "" unless another event came before. ok is false if ctx is done or w
// is closed.
func (w *Watcher) Wait(ctx context.Context) (path string, ok bool) { return w.next(ctx, nil, nil) }

func (w *Watcher) next(ctx context.Context, each, requested <-chan time.Time) (path string, ok bool) {
	var settled, expired <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return "", false
		case event, open := <-w.events:
			if !open {
				return "", false
			}
			if !w.concerns(event) {
				continue
			}
			if expired == nil {
				expired, path = time.After(settleTime), filepath.Clean(event.Name)
			}
			settled = time.After(quiet)
			continue
		case err, open := <-w.errors:
			if !open {
				return "", false
			}
			// Lost events count as a change.
			w.warn("", err)
		case <-each:
		case <-settled:
		case <-expired:
		case <-requested:
		}
		w.add()
		return path, true
	}
}

func (w *Watcher) concerns(event fsnotify.Event) bool {
	if event.Op == fsnotify.Chmod || w.Only != nil && !w.Only(filepath.Clean(event.Name)) {
		return false
	}
	name := filepath.Clean(event.Name)
	for _, path := range w.paths {
		path = filepath.Clean(path)
		below := strings.HasPrefix(name, strings.TrimSuffix(path, string(filepath.Separator))+string(filepath.Separator))
		// A file mounted by the kubelet is a link through ..data, and only ..data changes.
		mounted := filepath.Dir(name) == filepath.Dir(path) && MountInternal(filepath.Base(name))
		if name == path || below || mounted || path == "." {
			return true
		}
	}
	return false
}

// MountInternal reports whether path has an element such as ..data, in which the kubelet keeps a version of a
// mounted ConfigMap. Such folders hold each file a second time.
func MountInternal(path string) bool {
	for element := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if len(element) > 2 && strings.HasPrefix(element, "..") {
			return true
		}
	}
	return false
}
