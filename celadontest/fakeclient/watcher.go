package fakeclient

import (
	"sort"
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// A change is a write of an object. The object must not be modified.
type change struct {
	version uint64 // the last resourceVersion assigned at the time
	kind    watch.EventType
	obj     map[string]any
}

// A history holds all changes of a kind, in order. It is safe for concurrent use.
type history struct {
	mu      sync.Mutex
	changes []change
	news    chan struct{} // closed with the next change
}

func (h *history) add(c change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changes = append(h.changes, c)
	close(h.news)
	h.news = make(chan struct{})
}

func (h *history) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.changes)
}

// after returns the index of the first change after a resourceVersion.
func (h *history) after(version uint64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return sort.Search(len(h.changes), func(i int) bool { return h.changes[i].version > version })
}

// wait returns a change, or false if done is closed before it happens.
func (h *history) wait(i int, done <-chan struct{}) (change, bool) {
	for {
		h.mu.Lock()
		if i < len(h.changes) {
			defer h.mu.Unlock()
			return h.changes[i], true
		}
		news := h.news
		h.mu.Unlock()
		select {
		case <-news:
		case <-done:
			return change{}, false
		}
	}
}

// A watcher sends the changes of a kind. Unlike client-go's, it holds any number of events that are not
// received.
type watcher struct {
	result chan watch.Event
	once   sync.Once
	done   chan struct{}
}

// newWatcher returns a watcher that first sends existing, and then the changes in log from an index on.
// It skips those for which event returns false.
func newWatcher(existing []change, log *history, from int, event func(change) (watch.Event, bool)) *watcher {
	w := &watcher{result: make(chan watch.Event), done: make(chan struct{})}
	go func() {
		defer close(w.result)
		for _, c := range existing {
			if !w.send(event(c)) {
				return
			}
		}
		for i := from; ; i++ {
			c, ok := log.wait(i, w.done)
			if !ok || !w.send(event(c)) {
				return
			}
		}
	}()
	return w
}

// send sends an event if it is wanted. It returns false if the watcher was stopped.
func (w *watcher) send(e watch.Event, wanted bool) bool {
	if !wanted {
		return true
	}
	select {
	case w.result <- e:
		return true
	case <-w.done:
		return false
	}
}

// ResultChan returns the channel of events. It is closed after Stop.
func (w *watcher) ResultChan() <-chan watch.Event { return w.result }

// Stop stops the watcher. It can be called more than once.
func (w *watcher) Stop() { w.once.Do(func() { close(w.done) }) }
