// Package progress shows a progress bar on a terminal.
package progress

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Bar shows how many objects are done if the work takes longer than Patience. A nil Bar shows nothing.
type Bar struct {
	bar *progressbar.ProgressBar
	out *delayedWriter
}

const (
	// Patience is the time before the bar appears.
	Patience = time.Second
	// MinWidth is the minimum width of the terminal. A bar that wraps could not be cleared.
	MinWidth = 60
)

// On returns a bar on out, or nil if out is not a terminal or too narrow.
func On(out io.Writer, verb, noun string) *Bar {
	if own, ok := out.(*untrusted.Writer); ok {
		out = own.Unwrap() // the bar contains no untrusted text
	}
	if columns, terminal := command.Width(out); !terminal || columns > 0 && columns < MinWidth {
		return nil
	}
	return start(out, Patience, verb, noun)
}

func start(w io.Writer, delay time.Duration, verb, noun string) *Bar {
	out := &delayedWriter{w: w, from: time.Now().Add(delay)}
	bar := progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(verb),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString(noun),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	return &Bar{bar, out}
}

type delayedWriter struct {
	w     io.Writer
	from  time.Time
	wrote bool
}

func (p *delayedWriter) Write(text []byte) (int, error) {
	if time.Now().Before(p.from) {
		return len(text), nil
	}
	p.wrote = true
	return p.w.Write(text)
}

// Add counts n more objects as done.
func (p *Bar) Add(n int) {
	if p != nil {
		_ = p.bar.Add(n) // failing to draw the bar is not an error
	}
}

// Done removes the bar.
func (p *Bar) Done() {
	if p != nil {
		_ = p.bar.Finish()
		p.clear()
	}
}

func (p *Bar) clear() {
	if p.out.wrote {
		_ = p.bar.Clear()
		p.out.wrote = false
	}
}

// ReportWriter returns a writer for a report to w, which may be the bar's terminal: it clears the bar before
// each write. If wholeLines is set, each write must consist of whole lines, because the bar would overwrite
// an incomplete line.
func (p *Bar) ReportWriter(w io.Writer) (out io.Writer, wholeLines bool) {
	if _, terminal := command.Width(w); p == nil || !terminal {
		return w, false
	}
	return &cleared{w, p}, true
}

type cleared struct {
	w io.Writer
	p *Bar
}

func (c *cleared) Write(text []byte) (int, error) {
	c.p.clear()
	return c.w.Write(text)
}
