// Package respond implements parts of responses that do not depend on the resource, as the API
// server produces them: warnings, the messages of field errors, and rejections of bodies that
// cannot be decoded.
package respond

import (
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/net"
)

// Warnings collects the Warning headers of a response. Like the server, it drops duplicates and
// warnings that a header cannot carry, and limits the total length. See
// k8s.io/apiserver/pkg/endpoints/filters.WithWarningRecorder.
type Warnings struct {
	sent []string
	// added holds all warnings until the total is too long, including unsendable ones. Then each is shortened, which
	// may remove the characters that a header cannot carry.
	added []string
	known map[string]bool
	runes int // of the warnings in sent
	cut   bool
}

const (
	maxRunes    = 4 << 10
	maxRunesCut = 256 // limit for each warning after the total has reached maxRunes
)

// Add adds a warning, like warning.AddWarning.
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

func (w *Warnings) full() bool { return w.cut && w.runes >= maxRunes }

func (w *Warnings) send(text string) {
	if sendable(text) {
		w.sent = append(w.sent, text)
		w.runes += utf8.RuneCountInString(text)
	}
}

// Sent returns the warnings of the headers in order.
func (w *Warnings) Sent() []string { return w.sent }

// A Warning header cannot carry control characters and invalid UTF-8.
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
