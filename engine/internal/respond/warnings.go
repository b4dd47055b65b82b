// Package respond words answers as the API server's handlers do, whatever they
// are about: warnings, and refusals of bodies that cannot be decoded.
package respond

import (
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/net"
)

// Warnings are the Warning headers of one answer: each text once, none that a
// header cannot carry, and no more than the server sends. See
// k8s.io/apiserver/pkg/endpoints/filters.WithWarningRecorder.
type Warnings struct {
	sent []string
	// added are all, also those that were not sent: as soon as they are too
	// long, each is cut, and what a header could not carry may be gone.
	added []string
	known map[string]bool
	runes int // of what was sent
	cut   bool
}

const (
	maxRunes    = 4 << 10
	maxRunesCut = 256 // of one, from then on
)

// Add adds a warning, as warning.AddWarning does.
func (w *Warnings) Add(text string) {
	if text == "" || w.full() || w.known[text] {
		return
	}
	if w.known == nil {
		w.known = map[string]bool{}
	}
	w.known[text] = true
	if w.cut {
		w.send(shortened(text))
		return
	}
	w.added = append(w.added, text)
	if !sendable(text) {
		return
	}
	if w.runes+utf8.RuneCountInString(text) <= maxRunes {
		w.send(text)
		return
	}
	w.cut, w.sent, w.runes = true, nil, 0
	for _, text := range w.added {
		w.send(shortened(text))
	}
	w.added = nil
}

// full: the server does not look at what comes now.
func (w *Warnings) full() bool { return w.cut && w.runes >= maxRunes }

func (w *Warnings) send(text string) {
	if sendable(text) {
		w.sent = append(w.sent, text)
		w.runes += utf8.RuneCountInString(text)
	}
}

// Sent are the texts of the headers, in their order.
func (w *Warnings) Sent() []string { return w.sent }

// sendable asks the server's own writer: it refuses control characters.
func sendable(text string) bool {
	_, err := net.NewWarningHeader(299, "", text)
	return err == nil
}

func shortened(text string) string {
	n := 0
	for at := range text {
		if n++; n > maxRunesCut {
			return text[:at]
		}
	}
	return text
}
