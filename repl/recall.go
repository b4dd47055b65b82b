package repl

import (
	"slices"
	"strings"

	"github.com/chzyer/readline"

	"github.com/celadon-cel/celadon/internal/cel/lex"
)

// How it works: what was typed or pasted over several lines is one entry of the
// session's history, and the up key must find it whole. The line editor knows
// one line only: an entry is shown there as one, its strings' line breaks as ⏎,
// which are line breaks again when the line is read. The last entry may still go
// on in the next line; so other sessions hear of an entry when the one after it
// begins, or when this session ends.

// shownBreak stands for a line break in the line editor.
const shownBreak = "⏎"

// recall is what the up key finds.
type recall struct {
	old      []string // entries of earlier sessions
	remember func(entry string)
	rl       *readline.Instance

	known int    // how many entries of the session are in the editor
	last  string // the last of them
	told  int    // how many are remembered
}

// take puts what the session has been asked since into the editor. It fills the
// editor anew: one that is at an older entry would keep that in place of a new
// one.
func (r *recall) take(entries []string) error {
	n := len(entries)
	if n == 0 || n == r.known && entries[n-1] == r.last {
		return nil
	}
	r.known, r.last = n, entries[n-1]
	r.tell(entries[:n-1])
	r.rl.ResetHistory()
	return r.fill(entries)
}

// fill puts the entries of earlier sessions and of this into an empty editor.
func (r *recall) fill(entries []string) error {
	all := slices.Concat(r.old, entries)
	for _, entry := range all[max(0, len(all)-maxHistory):] {
		if err := r.rl.SaveHistory(asLine(entry)); err != nil {
			return err
		}
	}
	return nil
}

// end remembers what is left.
func (r *recall) end(entries []string) { r.tell(entries) }

func (r *recall) tell(entries []string) {
	for ; r.told < len(entries); r.told++ {
		if r.remember != nil {
			r.remember(entries[r.told])
		}
	}
}

// asLine is an entry on one line.
func asLine(entry string) string {
	if !strings.Contains(entry, "\n") {
		return entry
	}
	if line, ok := lex.Join(entry); ok {
		return line
	}
	return strings.ReplaceAll(entry, "\n", shownBreak)
}
