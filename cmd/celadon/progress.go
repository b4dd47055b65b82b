package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows on a terminal how many objects are done, when that takes long.
// A nil progress shows nothing.
type progress struct {
	verb, noun string
	started    time.Time
	stderr     *os.File
	bar        *progressbar.ProgressBar
	count      int
}

// patience is how long nothing is shown.
const patience = time.Second

func (a *app) progress(verb, noun string) *progress {
	f, ok := a.stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progress{verb: verb, noun: noun, started: time.Now(), stderr: f}
}

func (p *progress) add(n int) {
	if p == nil {
		return
	}
	p.count += n
	if p.bar == nil {
		if time.Since(p.started) < patience {
			return
		}
		p.bar = progressbar.NewOptions(-1,
			progressbar.OptionSetWriter(p.stderr),
			progressbar.OptionSetDescription(p.verb),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(p.noun),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
		n = p.count
	}
	_ = p.bar.Add(n) // what cannot be shown is no failure
}

// done takes the bar away.
func (p *progress) done() {
	if p != nil && p.bar != nil {
		_ = p.bar.Finish()
		_ = p.bar.Clear()
	}
}
