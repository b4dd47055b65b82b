package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/celadon-cel/celadon/internal/testing/vt"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
)

// fakeTTY is a session on a pseudo-terminal in the same process.
type fakeTTY struct {
	t             testing.TB
	keyboard, tty *os.File
	screen        *vt.Screen
	term          *Terminal
	session       *Session
	log           string // the current step of the test, for failures
}

// ioctl calls ioctl on f, and skips the test if that fails.
func ioctl(t testing.TB, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg)); err != 0 {
		t.Skipf("no pseudo-terminal: %v", err)
	}
}

func openTTY(t testing.TB, s *Session, cfg TerminalConfig) *fakeTTY {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	var number uint32
	var unlock int32
	ioctl(t, keyboard, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	ioctl(t, keyboard, syscall.TIOCGPTN, unsafe.Pointer(&number))
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	c := &fakeTTY{t: t, keyboard: keyboard, tty: tty, screen: vt.New(80, 24), session: s}
	c.resize(80, 24)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := keyboard.Read(buf)
			_, _ = c.screen.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	if c.term, err = OpenTerminal(tty, tty, s, cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil { // random keys can quit
			if err := Run(ctx, s, c.term, tty); err != nil {
				t.Errorf("Run: %v", err)
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		c.press("\x03\r")
		select {
		case <-done:
		case <-time.After(waitsFor):
			t.Error("the session does not end")
		}
		if err := c.term.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
		_, _ = keyboard.Close(), tty.Close()
	})
	return c
}

// waitsFor is long because the machine may be busy.
const waitsFor = 5 * time.Minute

func (c *fakeTTY) resize(columns, rows int) {
	size := [4]uint16{uint16(rows), uint16(columns)}
	ioctl(c.t, c.keyboard, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	c.screen.Resize(columns, rows)
	if c.term != nil {
		c.term.refresh() // this is not the process's own terminal, so no signal arrives
	}
}

func (c *fakeTTY) press(keys string) {
	c.t.Helper()
	if _, err := c.keyboard.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

func (c *fakeTTY) prompt() (text string, previews bool) {
	c.term.withSession(func() {
		text, previews = c.session.Prompt(), !c.session.noPreview
	})
	return text, previews
}

// shows waits until the row of the cursor is the prompt and line, with the cursor at its end, and the row
// below is one of below. It returns false after the given time.
func (c *fakeTTY) shows(line string, within time.Duration, below ...string) bool {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		prompt, _ := c.prompt()
		row, column := c.screen.Cursor()
		rows := append(c.screen.Rows(), make([]string, row+2)...)
		if rows[row] == strings.TrimRight(prompt+line, " ") && column == termwidth.Width(prompt+line) && slices.Contains(below, rows[row+1]) {
			return true
		}
	}
	return false
}

func (c *fakeTTY) mustShow(line, below string) {
	c.t.Helper()
	if !c.shows(line, waitsFor, below) {
		row, column := c.screen.Cursor()
		c.t.Fatalf("%s: the cursor is at row %d, column %d, want %q with %q below:\n%s", c.log, row, column, line, below, strings.Join(c.screen.Rows(), "\n"))
	}
}

// replied waits until the row after the last row with line is reply. It returns false after the given
// time.
func (c *fakeTTY) replied(line, reply string, within time.Duration) bool {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		rows := c.screen.All()
		for i := len(rows) - 2; i >= 0; i-- {
			if strings.HasSuffix(rows[i], line) {
				if rows[i+1] == reply {
					return true
				}
				break
			}
		}
	}
	return false
}
