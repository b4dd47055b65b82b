//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	display "github.com/celadon-cel/celadon/internal/text/termwidth"
)

var painted = regexp.MustCompile("\x1b\\[[0-9]*m")

func TestVetOnTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		golden  string
		columns uint16
		env     string
	}{
		{"wide.txt", 140, ""},
		{"80.txt", 80, ""},
		{"60.txt", 60, ""},
		{"40.txt", 40, ""},
		{"no_color.txt", 80, "NO_COLOR=1"},
	} {
		t.Run(c.golden, func(t *testing.T) {
			t.Parallel()
			got := onTerminal(t, c.columns, c.env, "vet", "crd.yaml")
			golden := filepath.Join("testdata", "vet_terminal", c.golden)
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, line := range ownLines(string(got)) {
				words := strings.Contains(strings.TrimSpace(line), " ") // a single word cannot be wrapped
				if n := display.Width(painted.ReplaceAllString(line, "")); n > int(c.columns) && words {
					t.Errorf("%d columns: %q", n, line)
				}
			}
		})
	}
}

func ownLines(report string) []string {
	_, own, _ := strings.Cut(report, "\n  v1, v2: ")
	return strings.Split(own, "\n")
}

func onTerminal(t *testing.T, width uint16, env string, args ...string) []byte {
	t.Helper()
	return onTerminalEndingWith(t, command.Findings, width, env, args...)
}

func onTerminalEndingWith(t *testing.T, code int, width uint16, env string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("celadon", args...)
	cmd.Dir = filepath.Join("testdata", "vet_terminal")
	cmd.Env = append(os.Environ(), "TERM=xterm", env)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: width})
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer tty.Close()
	out, err := io.ReadAll(tty)
	if err != nil && !errors.Is(err, syscall.EIO) { // the end of the terminal's output
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != code {
		t.Errorf("%v: want exit code %d", err, code)
	}
	return progressText.ReplaceAll(bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n")), nil)
}

// progressText matches a progress line, which appears on a busy machine, up to the text that replaces it.
var progressText = regexp.MustCompile(`[^\n]*\r`)
