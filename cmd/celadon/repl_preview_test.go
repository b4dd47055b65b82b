//go:build unix

package main

import (
	"strings"
	"testing"
	"time"
)

const cronPrompt = "CronTab/v1> "

func readyConsole(t *testing.T) *console {
	t.Helper()
	c := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir())
	c.awaitRows(strings.TrimSpace(cronPrompt))
	return c
}

func (c *console) set(setting string) {
	c.t.Helper()
	c.typed(":set " + setting + "\r")
	c.await("the next prompt", func() bool {
		return c.row(-1) == cronPrompt+":set "+setting && c.row(0) == strings.TrimSpace(cronPrompt)
	})
}

func TestTerminalPreview(t *testing.T) {
	t.Parallel()
	c := readyConsole(t)
	for _, test := range []struct{ line, preview string }{
		{"self.spec.replicas + 1", "  2 : integer; cost 4"},
		{"self.spec.replicas +", ""},
		{"'a' i", ""},
		{"'half", ""},
		{"[1, 2", ""},
		{"self.spec.repl", "  replicas  integer"},
		{"self.spec.nope", "  error: undefined field 'nope'"},
		{"1 / 0", "  error: division by zero"},
		{"self.spec.replicas == 'a'", "  error: found no matching overload for '_==_' applied to '(int, string)'"},
		{":add self.spec.replicas < 3", "  true : boolean; cost 4"},
		{":edit 0 self.spec.replicas > 3", "  false : boolean; cost 4"},
		{":set spec.replicas = 3", ""},
	} {
		c.typed(test.line)
		if test.preview == "" {
			time.Sleep(4 * pressEvery) // for a preview that should not come
			c.awaitRows(cronPrompt + test.line)
		} else {
			c.awaitRows(cronPrompt+test.line, test.preview)
		}
		c.awaitCursor(len(cronPrompt + test.line))
		c.typed("\x15") // Ctrl-U
		c.awaitRows(strings.TrimSpace(cronPrompt))
	}
}

func TestTerminalPreviewKeepsSession(t *testing.T) {
	t.Parallel()
	c := readyConsole(t)
	c.typed("self.spec.replicas\r")
	c.expect("cost 3")
	c.typed("self.spec.replicas + 41")
	c.awaitRows(cronPrompt+"self.spec.replicas + 41", "  42 : integer; cost 4")
	c.typed(ctrlC)
	c.awaitRows(strings.TrimSpace(cronPrompt))
	c.typed(up)
	c.awaitRows(cronPrompt+"self.spec.replicas", "  1 : integer; cost 3")
	c.typed(" + 10\r")
	c.awaitRows(strings.TrimSpace(cronPrompt))
	if text := strings.Join(c.screen.All(), "\n"); strings.Contains(text, "42") || !strings.Contains(text, "+ 10\n11\n  : integer; cost 4") {
		t.Errorf("the screen is\n%s", text)
	}
}

func TestTerminalPreviewOfDraft(t *testing.T) {
	t.Parallel()
	c := readyConsole(t)
	c.typed("[1,\r2].size()")
	c.awaitRows("... 2].size()", "  2 : integer; cost…")
	c.typed(ctrlC + ":cd spec\r:edit 0\r")
	c.await("the rule", func() bool { return strings.HasPrefix(c.row(0), "CronTab/v1 spec> :edit 0 ") })
	c.await("its effect", func() bool { return strings.HasPrefix(c.row(1), "  true : boolean; cost ") })
}

func TestTerminalPreviewOff(t *testing.T) {
	t.Parallel()
	off := func(c *console) {
		t.Helper()
		c.typed("40 + 2")
		time.Sleep(4 * pressEvery) // for a preview that should not come
		c.awaitRows(cronPrompt + "40 + 2")
		c.typed("\x15")
	}
	c := readyConsole(t)
	c.set("preview off")
	off(c)
	c.set("preview on")
	c.typed("40 + 2")
	c.awaitRows(cronPrompt+"40 + 2", "  42 : integer; cost 1")
	c.typed(ctrlC)
	c.resize(80, 5)
	off(c)

	dumb := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir(), "TERM=dumb")
	dumb.awaitRows(strings.TrimSpace(cronPrompt))
	off(dumb)
}

func TestTerminalSignature(t *testing.T) {
	t.Parallel()
	c := readyConsole(t)
	c.typed("self.spec.schedule.replace('a'")
	c.awaitRows(cronPrompt+"self.spec.schedule.replace('a'", "  (string).replace(string, string) -> string")
	c.typed(", 'b')")
	c.awaitRows(cronPrompt+"self.spec.schedule.replace('a', 'b')", `  "…`)
	c.typed(left + left)
	c.awaitRows(cronPrompt+"self.spec.schedule.replace('a', 'b')", "  (string).replace(string, string) -> string", `  "…`)
	c.awaitCursor(len(cronPrompt+"self.spec.schedule.replace('a', 'b')") - 2)
	if !strings.Contains(c.raw(), "replace(string, \x1b[0m\x1b[1mstring\x1b[0m") {
		t.Error("the argument at the cursor is not emphasized")
	}
}

func TestTerminalNarrow(t *testing.T) {
	t.Parallel()
	c := readyConsole(t)
	c.resize(40, 12)
	line := "'" + strings.Repeat("a", 26) // 12 columns of prompt and 27 of line
	c.typed(line)
	c.awaitRows(cronPrompt + line)
	c.typed("'")
	c.await("the second row", func() bool {
		row, column := c.screen.Cursor()
		return c.row(-1) == cronPrompt+line+"'" && row > 0 && column == 0
	})
	c.await("the preview", func() bool { return c.row(1) == `  "`+strings.Repeat("a", 26)+`" : strin…` })
	c.typed("+'b'" + strings.Repeat(left, 5))
	c.awaitCursor(39)
	c.await("the preview", func() bool { return c.row(1) == "+'b'" && strings.HasPrefix(c.row(2), `  "aaa`) })
	c.typed("\x15\x0b")
	c.awaitRows(strings.TrimSpace(cronPrompt))
}

func TestTerminalLongLine(t *testing.T) {
	t.Parallel()
	c := readyConsole(t)
	c.resize(40, 8)
	line := "'" + strings.Repeat("0123456789", 50) + "'.size()"
	c.typed(line)
	c.await("the preview", func() bool { return c.row(1) == "  500 : integer; cost 1" })
	at := (len(cronPrompt) + len(line)) % 40
	c.awaitCursor(at)
	if got, want := c.row(0), line[len(line)-at:]; got != want {
		t.Errorf("the last row is %q, want %q", got, want)
	}
	c.typed("\x01") // Ctrl-A
	c.await("the first row", func() bool { return strings.HasPrefix(c.row(0), cronPrompt+"'0123") })
	c.awaitCursor(len(cronPrompt))
	c.typed("\r")
	c.expect("500\r\n")
	c.awaitRows(strings.TrimSpace(cronPrompt))
}

func TestTerminalPaste(t *testing.T) {
	t.Parallel()
	c := readyConsole(t)
	c.typed("\x1b[200~self.spec.env.all(e,\r\te.name\t!= 'x')\r1 +\r\t\t\t41\r\x1b[201~")
	c.expect("true\r\n")
	c.expect("42\r\n")
	c.awaitRows(strings.TrimSpace(cronPrompt))
	c.typed("[1,\r\t2,\r \t3].size()\r")
	c.expect("3\r\n")
	c.awaitRows(strings.TrimSpace(cronPrompt))
	c.typed("\x1b[200~7\x1b[A\t+ 1\x1b[201~")
	c.awaitRows(cronPrompt+"7  + 1", "  8 : integer; cost 1")
}
