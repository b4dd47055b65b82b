// Package linediff formats the difference between two texts as diff -u does.
//
//	diff, err := linediff.Unified("crd.yaml", "crd.yaml (unsaved)", before, after)
package linediff

import (
	"github.com/aymanbagabas/go-udiff"
)

// Unified returns a unified diff with three lines of context, or nil if the texts are equal.
func Unified(nameBefore, nameAfter string, before, after []byte) []byte {
	old := string(before)
	edits := udiff.Lines(old, string(after))
	if len(edits) == 0 {
		return nil
	}
	text, err := udiff.ToUnified(nameBefore, nameAfter, old, edits, udiff.DefaultContextLines)
	if err != nil {
		panic(err) // edits that Lines returns are consistent
	}
	return []byte(text)
}
