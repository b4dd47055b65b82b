package repl

import (
	"context"
	"strings"
	"time"
)

// announce prints a message above the line that is being edited, and computes the preview again, because the
// session may have changed. If no line is being edited, the message precedes the next prompt.
func (t *Terminal) announce(text string) {
	text = strings.TrimSuffix(printable(text), "\n") + "\n"
	l := &t.line
	l.painting.Lock()
	defer l.painting.Unlock()
	l.mu.Lock()
	active := l.active
	if !active {
		l.announced = append(l.announced, text)
	}
	l.mu.Unlock()
	if active {
		l.outdate(false)
		t.screen.Clear(text)
		t.paint(false)
		t.schedule()
	}
}

// pollPause is how often a terminal looks for changes of watched files while a line is edited.
const pollPause = 500 * time.Millisecond

// watchFiles prints the replies of Session.Poll above the line that is being edited, until stop is
// called.
func (t *Terminal) watchFiles(ctx context.Context) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		ticker := time.NewTicker(pollPause)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if !t.use.TryLock() {
				continue // a line is being executed, which polls too
			}
			text := t.session.Poll(ctx)
			t.use.Unlock()
			if text != "" {
				t.announce(text)
			}
		}
	}()
	return stop
}
