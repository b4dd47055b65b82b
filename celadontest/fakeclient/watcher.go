package fakeclient

import (
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// A watcher converts the events of another watch. Unlike watch.Filter, it ends when stopped even if
// its current event is never received.
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

// ResultChan returns the channel of events. It is closed after Stop.
func (w *watcher) ResultChan() <-chan watch.Event { return w.result }

// Stop stops the watcher. It can be called more than once.
func (w *watcher) Stop() {
	w.once.Do(func() {
		close(w.done)
		w.from.Stop()
	})
}
