package fakeclient

import (
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// watcher gives the events of another as those who watch see them. Unlike watch.Filter
// it ends when it is stopped, though nobody takes the event that is under way.
type watcher struct {
	from   watch.Interface
	result chan watch.Event
	once   sync.Once
	done   chan struct{}
}

func newWatcher(from watch.Interface, seen func(watch.Event) watch.Event) *watcher {
	w := &watcher{from: from, result: make(chan watch.Event), done: make(chan struct{})}
	go func() {
		defer close(w.result)
		for e := range from.ResultChan() {
			select {
			case w.result <- seen(e):
			case <-w.done:
				return
			}
		}
	}()
	return w
}

// ResultChan is closed when the watcher has been stopped.
func (w *watcher) ResultChan() <-chan watch.Event { return w.result }

// Stop may be called more than once.
func (w *watcher) Stop() {
	w.once.Do(func() {
		close(w.done)
		w.from.Stop()
	})
}
