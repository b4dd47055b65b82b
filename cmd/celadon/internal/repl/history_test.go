package repl

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
			lines := h.entries()
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
			if again := h.entries(); len(again) == 0 || again[len(again)-1] != "new" {
				t.Errorf("the new line is not there")
			}
		})
	}
}

func TestHistoryOfSeveralLines(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	h := openHistory()
	if err := os.WriteFile(h.path, []byte("1 + 1\n  2 + 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"1 + 1", "  2 + 2", "[1,\n\t2,\n\n3]", "4"}
	for _, entry := range want[2:] {
		h.remember(entry)
	}
	if got := h.entries(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for range historyLines {
		h.remember("[1,\n2]")
	}
	got := h.entries()
	if len(got) != historyLines/2 || got[0] != "[1,\n2]" {
		t.Errorf("%d entries, the first %q", len(got), got[0])
	}
	h.remember("9")
	got = h.entries()
	if len(got) != historyLines/2 || got[0] != "[1,\n2]" {
		t.Errorf("%d entries, the first %q: a part of one was left", len(got), got[0])
	}
}
