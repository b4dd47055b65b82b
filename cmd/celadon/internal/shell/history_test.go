package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHistoryLimits reads a history that has grown too large, and leaves a
// smaller one.
func TestHistoryLimits(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	path := filepath.Join(state, "celadon", "history")
	for name, c := range map[string]struct {
		line  string
		lines int
	}{
		"many lines": {"1 + 1", 3 * historyLines},
		"long lines": {strings.Repeat("日", 1000), 200},
		"one line":   {strings.Repeat("x", 2*historyBytes), 1},
		"empty":      {"", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for i := range c.lines {
				fmt.Fprintf(&text, "%s // %d\n", c.line, i)
			}
			h := openHistory()
			if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			lines := h.lines()
			if len(lines) > historyLines || len(strings.Join(lines, "\n")) > historyBytes {
				t.Errorf("%d lines kept", len(lines))
			}
			last := fmt.Sprintf("%s // %d", c.line, c.lines-1)
			if c.lines > 1 && (len(lines) == 0 || lines[len(lines)-1] != last || !strings.HasPrefix(lines[0], c.line)) {
				t.Errorf("not the last lines, whole: %.80q … ", lines)
			}
			h.remember("new")
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 || info.Size() > historyBytes+10 {
				t.Errorf("mode %v, %d bytes", info.Mode().Perm(), info.Size())
			}
			if again := h.lines(); len(again) == 0 || again[len(again)-1] != "new" {
				t.Errorf("the new line is not there")
			}
		})
	}
}
