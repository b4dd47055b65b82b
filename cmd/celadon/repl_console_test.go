//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/celadon-cel/celadon/internal/testing/vt"
)

type console struct {
	t   testing.TB
	tty *os.File
	cmd *exec.Cmd

	screen *vt.Screen

	mu   sync.Mutex
	out  bytes.Buffer
	read int // offset in out without escape sequences, moved by expect
}

func openConsole(t testing.TB, env []string, args ...string) *console {
	t.Helper()
	return startConsole(t, env, exec.Command("celadon", append([]string{"repl"}, args...)...))
}

func startConsole(t testing.TB, env []string, cmd *exec.Cmd) *console {
	t.Helper()
	cmd.Env = append(os.Environ(), append([]string{"TERM=xterm"}, env...)...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	c := &console{t: t, tty: tty, cmd: cmd, screen: vt.New(80, 24)}
	go c.copy()
	t.Cleanup(func() {
		_ = tty.Close()
		_ = cmd.Process.Kill()
	})
	return c
}

func (c *console) copy() {
	buf := make([]byte, 4096)
	for {
		n, err := c.tty.Read(buf)
		c.mu.Lock()
		c.out.Write(buf[:n])
		c.mu.Unlock()
		_, _ = c.screen.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

func (c *console) typed(keys string) {
	c.t.Helper()
	if _, err := io.WriteString(c.tty, keys); err != nil {
		c.t.Fatal(err)
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]|[\x07\b]")

func (c *console) expect(text string) string {
	c.t.Helper()
	deadline := time.Now().Add(waitsFor)
	for {
		c.mu.Lock()
		plain := escapes.ReplaceAllString(c.out.String(), "")
		c.mu.Unlock()
		if i := strings.Index(plain[min(c.read, len(plain)):], text); i >= 0 {
			seen := plain[c.read : c.read+i+len(text)]
			c.read += i + len(text)
			return seen
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%q did not come; there is %q", text, plain[min(c.read, len(plain)):])
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// pressUntil presses a key repeatedly until text appears, because the line editor discards keys that
// arrive before the previous line was accepted.
func (c *console) pressUntil(key, text string) {
	c.t.Helper()
	for range waitsFor / pressEvery {
		c.typed(key)
		time.Sleep(pressEvery)
		c.mu.Lock()
		plain := escapes.ReplaceAllString(c.out.String(), "")
		c.mu.Unlock()
		if strings.Contains(plain[min(c.read, len(plain)):], text) {
			break
		}
	}
	c.expect(text)
}

func (c *console) raw() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

// leave presses Ctrl-D until the shell exits, because the terminal consumes a Ctrl-D that arrives
// before the line was accepted.
func (c *console) leave() error {
	c.t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.cmd.Wait() }()
	for range waitsFor / pressEvery {
		_, _ = io.WriteString(c.tty, ctrlD) // fails if the shell has exited
		select {
		case err := <-done:
			return err
		case <-time.After(pressEvery):
		}
	}
	c.t.Fatal("it does not end")
	return nil
}

// waitsFor is long because the machine may be busy.
const (
	waitsFor   = 5 * time.Minute
	pressEvery = 50 * time.Millisecond
)

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	up    = "\x1b[A"
	down  = "\x1b[B"
	left  = "\x1b[D"
	right = "\x1b[C"
	tab   = "\t"
	esc   = "\x1b"
	back  = "\x1b[Z" // Shift-Tab
)

func cronTabConsole(t *testing.T, env ...string) *console {
	t.Helper()
	crd := filepath.Join(t.TempDir(), "crd.yaml")
	data, err := os.ReadFile("../../examples/crontab/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(crd, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return openConsole(t, env, "--crd", crd, "--object", "../../examples/crontab/updates/nightly.yaml")
}

func (c *console) resize(columns, rows int) {
	c.t.Helper()
	c.screen.Resize(columns, rows)
	if err := pty.Setsize(c.tty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *console) await(what string, ok func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(waitsFor); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			row, column := c.screen.Cursor()
			c.t.Fatalf("%s did not come; the cursor is at row %d, column %d of\n%s", what, row, column, strings.Join(c.screen.Rows(), "\n"))
		}
	}
	if unknown := c.screen.Unknown(); len(unknown) > 0 {
		c.t.Fatalf("unknown sequences: %v", unknown)
	}
}

func (c *console) row(below int) string {
	at, _ := c.screen.Cursor()
	if rows := c.screen.Rows(); at+below >= 0 && at+below < len(rows) {
		return rows[at+below]
	}
	return ""
}

// A text that ends with … is only the beginning of a row.
func (c *console) awaitRows(want ...string) {
	c.t.Helper()
	c.await(strings.Join(want, "\n"), func() bool {
		at, _ := c.screen.Cursor()
		for i, text := range want {
			got := c.row(i)
			if begin, ok := strings.CutSuffix(text, "…"); got != text && !(ok && strings.HasPrefix(got, begin)) {
				return false
			}
		}
		return len(c.screen.Rows()) <= at+len(want)
	})
}

func (c *console) awaitCursor(column int) {
	c.t.Helper()
	c.await("the cursor", func() bool { _, at := c.screen.Cursor(); return at == column })
}
