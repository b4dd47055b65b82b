package watch

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestWatcherSettles(t *testing.T) {
	t.Parallel()
	event := func(name string, op fsnotify.Op) fsnotify.Event { return fsnotify.Event{Name: name, Op: op} }
	written := event("/crds/a.yaml", fsnotify.Write)
	for name, c := range map[string]struct {
		every  time.Duration
		events []fsnotify.Event
		lost   bool
		want   []time.Duration
	}{
		"one":             {0, []fsnotify.Event{written}, false, []time.Duration{250 * time.Millisecond}},
		"several at once": {100 * time.Millisecond, []fsnotify.Event{written, event("/crds/b.yaml", fsnotify.Create), event("/crds/c", fsnotify.Remove)}, false, []time.Duration{450 * time.Millisecond}},
		"without end":     {100 * time.Millisecond, slices.Repeat([]fsnotify.Event{written}, 25), false, []time.Duration{2 * time.Second, 2650 * time.Millisecond}},
		"two":             {time.Second, []fsnotify.Event{written, written}, false, []time.Duration{250 * time.Millisecond, 1250 * time.Millisecond}},
		"the folder":      {0, []fsnotify.Event{event("/crds", fsnotify.Create)}, false, []time.Duration{250 * time.Millisecond}},
		"not ours":        {0, []fsnotify.Event{event("/other/a.yaml", fsnotify.Write), event("/crds2", fsnotify.Write), event("/crds/a.yaml", fsnotify.Chmod)}, false, nil},
		"a mounted file":  {0, []fsnotify.Event{event("/tls/..data", fsnotify.Create)}, false, []time.Duration{250 * time.Millisecond}},
		"events lost":     {0, nil, true, []time.Duration{0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				events, failures := make(chan fsnotify.Event), make(chan error)
				w := &Watcher{paths: []string{"/crds", "/tls/tls.crt"}, warn: func(string, error) {}, events: events, errors: failures, watch: func(string) error { return nil }}
				start, changes := time.Now(), make(chan time.Duration, 10)
				go w.Run(t.Context(), func() time.Duration { changes <- time.Since(start); return 0 })
				if c.lost {
					failures <- fsnotify.ErrEventOverflow
				}
				for _, event := range c.events {
					events <- event
					time.Sleep(c.every)
				}
				time.Sleep(recheck - time.Nanosecond - time.Since(start))
				synctest.Wait()
				var got []time.Duration
				for range len(changes) {
					got = append(got, <-changes)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("changes after %v, want %v", got, c.want)
				}
				if again := <-changes; again != recheck {
					t.Errorf("looked again after %s", again)
				}
			})
		})
	}
}

func TestWaitOutlivesOverflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		events, failures := make(chan fsnotify.Event, 1), make(chan error, 1)
		warnings := 0
		w := &Watcher{paths: []string{"/m"}, warn: func(string, error) { warnings++ }, events: events, errors: failures, watch: func(string) error { return nil }}
		failures <- fsnotify.ErrEventOverflow
		if path, ok := w.Wait(t.Context()); path != "" || !ok || warnings != 1 {
			t.Errorf("%q, %t, told %d times", path, ok, warnings)
		}
		events <- fsnotify.Event{Name: "/m/a.yaml", Op: fsnotify.Write}
		if path, ok := w.Wait(t.Context()); path != "/m/a.yaml" || !ok {
			t.Errorf("%q, %t", path, ok)
		}
	})
}
