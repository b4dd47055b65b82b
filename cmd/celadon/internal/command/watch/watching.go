// Package watch tells when files change, for what reads them again.
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
	// quiet is how long nothing must happen before a change counts as whole;
	// settleTime is how long that is waited for.
	quiet      = 250 * time.Millisecond
	settleTime = 2 * time.Second
	// recheck is for file systems that tell of nothing.
	recheck = time.Minute
)

// Watcher tells when files at or below its paths were written, made, moved or
// removed.
type Watcher struct {
	paths  []string
	warn   func(path string, err error)
	events <-chan fsnotify.Event
	errors <-chan error
	// Only says what matters; nil is all. To be set before Run or Wait.
	Only func(path string) bool
	// watch is told of a folder, again and again.
	watch func(path string) error
	close func() error
}

// New watches files, folders and what is below them from now on; Run and Wait
// tell of it. Warn is told of what cannot be watched; a path of "" is where events
// were lost.
func New(paths []string, warn func(path string, err error)) (*Watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("cannot watch files: %w", err)
	}
	w := &Watcher{paths: paths, warn: warn, events: notify.Events, errors: notify.Errors, watch: notify.Add, close: notify.Close}
	w.add()
	return w, nil
}

// add watches each path's folder, for the path may be replaced as a whole, and
// all folders below it. Those watched already stay as they are.
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
				return fs.SkipDir // hidden, as for who reads
			default:
				w.folder(path)
			}
			return nil // what cannot be read is the reader's to say
		})
	}
}

// within is true of a path that was given.
func within(path string, paths []string) bool {
	return slices.ContainsFunc(paths, func(given string) bool { return filepath.Clean(given) == filepath.Clean(path) })
}

func (w *Watcher) folder(path string) {
	if err := w.watch(path); err != nil {
		w.warn(path, err)
	}
}

// Close ends the watching.
func (w *Watcher) Close() error { return w.close() }

// Run calls changed once for all that happens in quick succession, when changed
// asked to be called again, and once a minute in any case. It ends with the
// context.
func (w *Watcher) Run(ctx context.Context, changed func() (again time.Duration)) {
	each := time.NewTicker(recheck)
	defer each.Stop()
	var asked <-chan time.Time
	for {
		if _, ok := w.next(ctx, each.C, asked); !ok {
			return
		}
		asked = nil
		if again := changed(); again > 0 {
			asked = time.After(again)
		}
	}
}

// Wait returns after a change, and what follows it in quick succession: what
// changed first, "" where events were lost. It is false at the end of the context.
func (w *Watcher) Wait(ctx context.Context) (what string, ok bool) { return w.next(ctx, nil, nil) }

func (w *Watcher) next(ctx context.Context, each, asked <-chan time.Time) (what string, ok bool) {
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
				expired, what = time.After(settleTime), filepath.Clean(event.Name)
			}
			settled = time.After(quiet)
			continue
		case err, open := <-w.errors:
			if !open {
				return "", false
			}
			// Events were lost: that is a change, too.
			w.warn("", err)
		case <-each:
		case <-settled:
		case <-expired:
		case <-asked:
		}
		w.add()
		return what, true
	}
}

// concerns leaves out what else happens in the folder of a path.
func (w *Watcher) concerns(event fsnotify.Event) bool {
	if event.Op == fsnotify.Chmod || w.Only != nil && !w.Only(filepath.Clean(event.Name)) {
		return false
	}
	name := filepath.Clean(event.Name)
	for _, path := range w.paths {
		path = filepath.Clean(path)
		below := strings.HasPrefix(name, strings.TrimSuffix(path, string(filepath.Separator))+string(filepath.Separator))
		// A mounted file is a link by way of ..data, which is what changes.
		mounted := filepath.Dir(name) == filepath.Dir(path) && MountInternal(filepath.Base(name))
		if name == path || below || mounted || path == "." {
			return true
		}
	}
	return false
}

// MountInternal is true below the folders in which the kubelet keeps the
// versions of a mounted ConfigMap: each file stands there a second time.
func MountInternal(path string) bool {
	for element := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if len(element) > 2 && strings.HasPrefix(element, "..") {
			return true
		}
	}
	return false
}
