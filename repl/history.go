package repl

import (
	"slices"
	"strings"

	"github.com/chzyer/readline"

	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// How it works: input that was typed or pasted over several lines is one history entry, and the up
// key must recall it as a whole. The line editor supports only single lines, so it holds each entry
// on one line, with line breaks in strings shown as ⏎ and restored when the line is read. The last
// entry may still continue in the next line. It is therefore reported to Remember only when the
// next entry begins or the session ends.

// shownBreak represents a line break in the line editor.
const shownBreak = "⏎"

// editorHistory manages the history of the up key.
type editorHistory struct {
	old      []string // entries of earlier sessions
	remember func(entry string)
	rl       *readline.Instance

	known      int      // number of session entries in the editor
	last       string   // the last of them
	remembered int      // number of entries passed to remember
	lines      []string // the entries in the editor, oldest first
}

// take updates the editor with the entries of the session. It rebuilds the editor's history because
// an editor that is positioned at an older entry would keep that entry instead of a new entry.
func (r *editorHistory) take(entries []string) error {
	n := len(entries)
	if n == 0 || n == r.known && entries[n-1] == r.last {
		return nil
	}
	r.known, r.last = n, entries[n-1]
	r.passOn(entries[:n-1])
	r.rl.ResetHistory()
	return r.fill(entries)
}

// fill adds the entries of earlier sessions and of this session to an editor with an empty history.
func (r *editorHistory) fill(entries []string) error {
	all := slices.Concat(r.old, entries)
	r.lines = nil
	for _, entry := range all[max(0, len(all)-maxHistory):] {
		r.lines = append(r.lines, asLine(entry))
		if err := r.rl.SaveHistory(r.lines[len(r.lines)-1]); err != nil {
			return err
		}
	}
	return nil
}

// end passes the remaining entries to remember.
func (r *editorHistory) end(entries []string) { r.passOn(entries) }

func (r *editorHistory) passOn(entries []string) {
	for ; r.remembered < len(entries); r.remembered++ {
		if r.remember != nil {
			r.remember(entries[r.remembered])
		}
	}
}

func asLine(entry string) string {
	if !strings.Contains(entry, "\n") {
		return entry
	}
	if line, ok := lex.Join(entry); ok {
		return line
	}
	return strings.ReplaceAll(entry, "\n", shownBreak)
}
