package shell

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// The history file holds no more than this; older lines go first.
const (
	historyLines = 1000
	historyBytes = 256 << 10
)

// history is the lines of earlier sessions, in a file that only its user can
// read. Where it cannot be kept, the shell works without.
type history struct{ path string }

// openHistory finds the file in the user's state folder.
func openHistory() *history {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // as the XDG specification wants it
		home, err := os.UserHomeDir()
		if err != nil {
			return &history{}
		}
		state = filepath.Join(home, ".local", "state")
	}
	folder := filepath.Join(state, "celadon")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return &history{}
	}
	return &history{filepath.Join(folder, "history")}
}

// lines reads what is there, and makes the file smaller where it has grown.
func (h *history) lines() []string {
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
	if text := strings.Join(lines, "\n") + "\n"; len(text) < len(data) {
		_ = replaceFile(h.path, []byte(text)) // the next session tries again
	}
	return lines
}

func (h *history) remember(line string) {
	if h.path == "" {
		return
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if f.Chmod(0o600) == nil {
		_, _ = f.WriteString(line + "\n")
	}
}
