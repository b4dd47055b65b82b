//go:build unix

package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/mattn/go-runewidth"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/repl"
	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func TestTerminalKeys(t *testing.T) {
	state := t.TempDir()
	c := cronTabConsole(t, "XDG_STATE_HOME="+state)
	c.expect("CronTab/v1> ")

	c.typed("self.sp\t.repl\t\r")
	c.expect("self.spec.replicas")
	c.expect("1\r\n  : integer; cost 3")
	c.expect("CronTab/v1> ")

	c.typed("self.spec.\t")
	c.expect("env")
	c.expect("maxReplicas")
	c.typed(ctrlC)
	c.expect("^C")
	c.expect("CronTab/v1> ")

	c.typed("1 + 2" + left + left + "0" + "\r") // 1 +0 2 is not a valid expression
	c.expect("error:")
	c.expect("CronTab/v1> ")
	c.typed(up + up + "\r")
	c.expect("self.spec.replicas")
	c.expect("integer; cost 3")

	c.typed("'日本' + '語'" + left + left + "国" + "\r") // the cursor moves by characters
	c.expect("\"日本国語\"\r\n")
	c.expect("CronTab/v1> ")
	c.typed("'half a line" + ctrlC)
	c.expect("^C")
	c.expect("CronTab/v1> ")
	c.typed("'日本語' + self.spec.nope\r")
	c.expect("\r\n" + strings.Repeat(" ", runewidth.StringWidth("'日本語' + self.spec")) + "^")
}

func TestTerminalInterrupt(t *testing.T) {
	c := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir())
	c.expect("CronTab/v1> ")
	c.typed("(1 +\r")
	c.expect("... ")
	c.typed(ctrlC)
	c.expect("CronTab/v1> ")
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	c.typed("40 + 2\r")
	c.expect("42\r\n")
	c.expect("CronTab/v1> ")
	if err := c.leave(); err != nil {
		t.Error(err)
	}
}

// unlimited runs celadon repl without a cost limit of an evaluation, so that an evaluation can take as long
// as a test needs.
func unlimited() {
	s := command.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	o := &repl.Options{Inputs: repl.Inputs{CRD: os.Args[1]}, NoHistory: true, Limits: cost.Limits{PerCall: math.MaxInt64}}
	if err := repl.Run(context.Background(), s, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(command.Usage)
	}
}

func TestTerminalStopsEvaluation(t *testing.T) {
	c := startConsole(t, nil, exec.Command("celadon-unlimited", "../../examples/crontab/crd.yaml"))
	c.expect("CronTab/v1> ")
	c.typed("lists.range(100000).all(a, lists.range(100000).all(b, a + b >= 0))\r")
	c.expect("b >= 0))\r\n") // the line is accepted, and the terminal is no longer in raw mode
	c.pressUntil(ctrlC, "operation interrupted")
	// An explanation has its own limits, even if evaluation is unlimited.
	c.typed(":explain lists.range(100000).all(a, lists.range(100000).all(b, a + b >= 0))\r")
	c.expect("too many to record")
	c.expect("CronTab/v1> ")
	c.typed(":explain " + strings.Repeat("[1,2,3,4].all(a,", 16) + "a > 0" + strings.Repeat(")", 16) + "\r")
	c.expect("steps of work")
	c.expect("CronTab/v1> ")
	c.typed("40 + 2\r")
	c.expect("42\r\n")
	c.expect("CronTab/v1> ")
	if err := c.leave(); err != nil {
		t.Error(err)
	}
}

func TestTerminalUnsaved(t *testing.T) {
	c := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir())
	c.expect("CronTab/v1> ")
	c.typed(":cd spec\r:add self.replicas < 99\r" + ctrlD) // typed ahead
	c.expect("there are unsaved rules")
	c.expect("CronTab/v1 spec> ")
	c.typed(":edit 2\r")
	c.expect(":edit 2 self.replicas < 99")
	c.typed("9\r")
	c.expect("self.replicas < 999\r\n")
	c.expect("CronTab/v1 spec> ")
	c.typed(":save\r")
	c.expect("wrote ")
	if err := c.leave(); err != nil {
		t.Error(err)
	}
}

func TestTerminalResize(t *testing.T) {
	c := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir())
	c.expect("CronTab/v1> ")
	for _, columns := range []uint16{40, 10} {
		if err := pty.Setsize(c.tty, &pty.Winsize{Rows: 10, Cols: columns}); err != nil {
			t.Fatal(err)
		}
		c.typed(":help\r")
		c.expect("Look around")
		text := c.expect("> ")
		for _, line := range strings.Split(text, "\r\n") {
			if strings.HasPrefix(line, ":") && runewidth.StringWidth(line) > max(int(columns), 12) { // prose has at least 12 columns
				t.Errorf("%d columns in %d: %q", runewidth.StringWidth(line), columns, line)
			}
		}
		c.typed("self.spec.\t\t\t" + ctrlC)
		c.expect("^C")
		c.typed("1\r")
		c.expect("integer")
		c.expect("> ")
	}
}

func TestTerminalHistory(t *testing.T) {
	state := t.TempDir()
	c := cronTabConsole(t, "XDG_STATE_HOME="+state)
	c.expect("CronTab/v1> ")
	c.typed("111 + 222\r")
	c.expect("333")
	c.expect("CronTab/v1> ")
	if err := c.leave(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(state, "celadon", "history"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode().Perm())
	}
	again := cronTabConsole(t, "XDG_STATE_HOME="+state)
	again.expect("CronTab/v1> ")
	again.typed(up + "\r")
	again.expect("333")
}

func TestTerminalColours(t *testing.T) {
	c := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir())
	c.expect("CronTab/v1> ")
	c.typed("nope\r")
	c.expect("error:")
	for _, colour := range []string{"\x1b[1mCronTab/v1> \x1b[0m", "\x1b[31merror:"} {
		if !strings.Contains(c.raw(), colour) {
			t.Errorf("no %q in %q", colour, c.raw())
		}
	}
	plain := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir(), "NO_COLOR=1")
	plain.expect("CronTab/v1> ")
	plain.typed("size('a') + nope\r")
	plain.expect("error:")
	if m := regexp.MustCompile("\x1b\\[[0-9;]*m").FindString(plain.raw()); m != "" {
		t.Errorf("%q under NO_COLOR", m)
	}
}

func TestTerminalNUL(t *testing.T) {
	c := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir())
	c.expect("CronTab/v1> ")
	c.typed("\x00\x00111 +\x00 222\r")
	c.expect("333")
	c.expect("CronTab/v1> ")
	c.typed("\x00")
	if err := c.leave(); err != nil {
		t.Fatal(err)
	}
}

func TestTerminalNoHistory(t *testing.T) {
	state := t.TempDir()
	c := openConsole(t, []string{"XDG_STATE_HOME=" + state}, "--no-history")
	c.expect("celadon> ")
	if err := c.leave(); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(state); len(entries) > 0 {
		t.Errorf("%v in the state folder", entries)
	}
}

func BenchmarkTerminalStart(b *testing.B) {
	largest := corpus.Largest(b, corpus.CRDFiles(b))
	for b.Loop() {
		c := openConsole(b, []string{"XDG_STATE_HOME=" + b.TempDir()}, "--crd", largest)
		c.expect("> ")
		b.StopTimer()
		if err := c.leave(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func TestTerminalHistoryOfPastedLines(t *testing.T) {
	state := t.TempDir()
	c := cronTabConsole(t, "XDG_STATE_HOME="+state)
	c.expect("CronTab/v1> ")
	c.typed("[10,\r20].size() // two\r")
	c.expect("2\r\n")
	c.typed("self.spec.replicas\r  + 40\r  + 2\r")
	c.expect("43\r\n")
	c.expect("CronTab/v1> ")
	c.typed("'''a\rb''' + 'c'\r")
	c.expect(`"a\nbc"`)
	c.expect("CronTab/v1> ")
	recalled := func(c *console) {
		c.t.Helper()
		c.typed(up + up + "\r")
		c.expect("self.spec.replicas + 40 + 2")
		c.expect("43\r\n")
		c.expect("CronTab/v1> ")
	}
	recalled(c)
	c.typed(up + up + "\r") // the entry before; repeating an expression adds an entry
	c.expect(`"a\nbc"`)
	c.typed(up + up + up + up + up + "\r")
	c.expect("[10, 20].size()")
	c.expect("2\r\n")
	c.expect("CronTab/v1> ")
	c.typed("'''a\rb''' + 'c'\r")
	c.expect(`"a\nbc"`)
	if err := c.leave(); err != nil {
		t.Fatal(err)
	}
	again := cronTabConsole(t, "XDG_STATE_HOME="+state)
	again.expect("CronTab/v1> ")
	again.typed(up + "\r")
	again.expect(`"a\nbc"`)
	again.expect("CronTab/v1> ")
	again.typed(up + up + "\r")
	again.expect("[10, 20].size()")
	again.expect("2\r\n")
}

func TestTerminalGreets(t *testing.T) {
	c := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir())
	c.expect(":help lists commands.\r\n")
	c.expect("CronTab/v1> ")
	c.typed("help\r")
	c.expect(":load [crd|object|old|policy] FILE")
	c.expect("CronTab/v1> ")
	c.typed("exit\r")
	if err := c.cmd.Wait(); err != nil {
		t.Error(err)
	}
}
