// Package progress shows on a terminal how much is done.
package progress

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Bar shows on a terminal how many objects are done, when that takes long. A nil
// Bar shows nothing.
type Bar struct {
	bar *progressbar.ProgressBar
	out *patient
}

const (
	// Patience is how long nothing is shown.
	Patience = time.Second
	// Width is how wide a terminal has to be: what does not fit a line cannot
	// be taken away.
	Width = 60
)

// On says on a terminal what is done to what; it is nil where out is none.
func On(out io.Writer, verb, noun string) *Bar {
	if own, ok := out.(*untrusted.Writer); ok {
		out = own.Unwrap() // the bar is ours
	}
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width < Width {
		return nil
	}
	return start(f, Patience, verb, noun)
}

func start(w io.Writer, patience time.Duration, verb, noun string) *Bar {
	out := &patient{w: w, from: time.Now().Add(patience)}
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

// patient drops what is written before a time.
type patient struct {
	w     io.Writer
	from  time.Time
	wrote bool
}

func (p *patient) Write(text []byte) (int, error) {
	if time.Now().Before(p.from) {
		return len(text), nil
	}
	p.wrote = true
	return p.w.Write(text)
}

// Add counts what is done.
func (p *Bar) Add(n int) {
	if p != nil {
		_ = p.bar.Add(n) // what cannot be shown is no failure
	}
}

// Done takes the bar away.
func (p *Bar) Done() {
	if p != nil {
		_ = p.bar.Finish()
		p.clear()
	}
}

// clear takes the bar away until it is drawn again.
func (p *Bar) clear() {
	if p.out.wrote {
		_ = p.bar.Clear()
		p.out.wrote = false
	}
}

// Beside is for a report that goes to a terminal, which may be the bar's: the
// bar makes room for each text. Whole is true where texts have to be whole lines
// then, for the bar is drawn over what is left of one.
func (p *Bar) Beside(w io.Writer) (beside io.Writer, whole bool) {
	if f, ok := w.(*os.File); p == nil || !ok || !term.IsTerminal(int(f.Fd())) {
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
