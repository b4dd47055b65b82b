package repl

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
)

// Limits of the history file. The oldest lines are removed first.
const (
	historyLines = 1000
	historyBytes = 256 << 10
)

// history stores the entries of earlier sessions in a file that only its user can read. Each entry starts a
// line; the further lines of an entry start with a tab. If the file cannot be written, the shell works
// without a history.
type history struct{ path string }

func openHistory() *history {
	parent := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(parent) { // the XDG specification requires an absolute path
		home, err := os.UserHomeDir()
		if err != nil {
			return &history{}
		}
		parent = filepath.Join(home, ".local", "state")
	}
	folder := filepath.Join(parent, "celadon")
	if outfile.MkdirAll(folder, 0o700) != nil {
		return &history{}
	}
	return &history{filepath.Join(folder, "history")}
}

// entries returns the stored entries, and shortens the file if it exceeds the limits.
func (h *history) entries() []string {
	data, err := os.ReadFile(h.path)
	if err != nil || len(data) == 0 {
		return nil
	}
	kept := data
	if over := len(kept) - historyBytes; over > 0 {
		kept = kept[over:]
		if _, after, ok := bytes.Cut(kept, []byte("\n")); ok {
			kept = after
		}
	}
	lines := strings.Split(strings.TrimSuffix(string(kept), "\n"), "\n")
	if over := len(lines) - historyLines; over > 0 {
		lines = lines[over:]
	}
	for len(lines) > 0 && strings.HasPrefix(lines[0], more) {
		lines = lines[1:] // the start of the entry was removed
	}
	if text := strings.Join(lines, "\n") + "\n"; len(text) < len(data) {
		_ = outfile.Write(h.path, []byte(text)) // on an error, the next session tries again
	}
	var entries []string
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, more); ok {
			entries[len(entries)-1] += "\n" + rest
		} else {
			entries = append(entries, line)
		}
	}
	return entries
}

const more = "\t"

func (h *history) remember(entry string) {
	if h.path == "" {
		return
	}
	f, err := outfile.Append(h.path, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if f.Chmod(0o600) == nil {
		_, _ = f.WriteString(strings.ReplaceAll(entry, "\n", "\n"+more) + "\n")
	}
}
