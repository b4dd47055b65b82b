//go:build unix

package main

import (
	"strings"
	"testing"
)

func TestTerminalMenu(t *testing.T) {
	t.Parallel()
	c := readyConsole(t)
	menu := func(rows ...string) {
		t.Helper()
		c.awaitRows(append([]string{cronPrompt + "self.spec."}, rows...)...)
	}
	c.typed("self.spec." + tab)
	menu("> env          list-map of object", "  image        string", "  maxReplicas  integer", "  replicas     integer", "  schedule     string",
		"  suspended    boolean", "  maxItems 32")
	c.typed(tab + down + back + back + up) // wraps around
	menu("  env          list-map of object", "  image        string", "  maxReplicas  integer", "  replicas     integer", "  schedule     string",
		"> suspended    boolean")
	c.awaitCursor(len(cronPrompt + "self.spec."))
	c.typed(esc)
	menu()
	c.typed(tab + "\x07") // Ctrl-G
	menu()

	c.typed(tab + "s")
	c.awaitRows(cronPrompt+"self.spec.s", "> schedule   string", "  suspended  boolean", "  maxLength 64")
	c.typed("\x7f")
	c.awaitRows(cronPrompt+"self.spec.", "  env          list-map of object", "…", "…", "…", "> schedule     string", "…", "…")
	c.typed(right) // accepts, and does not run the line
	c.awaitRows(cronPrompt+"self.spec.schedule", "  \"…")
	c.typed(".s" + tab + down + "\r")
	c.await("an accepted method", func() bool {
		return strings.HasPrefix(c.row(0), cronPrompt+"self.spec.schedule.s") && strings.HasSuffix(c.row(0), "(")
	})

	c.typed(ctrlC + "self.spec." + tab)
	menu("> env…", "…", "…", "…", "…", "…", "…")
	c.typed(ctrlC)
	c.awaitRows(strings.TrimSpace(cronPrompt))
	if got := c.row(-1); got != cronPrompt+"self.spec.^C" {
		t.Errorf("the row above is %q", got)
	}
	c.typed("self.spec." + tab + "x")
	c.awaitRows(cronPrompt+"self.spec.x", "  error: undefined field 'x'")
}

func TestTerminalMenuTexts(t *testing.T) {
	t.Parallel()
	c := openConsole(t, []string{"XDG_STATE_HOME=" + t.TempDir()}, "--crd", "testdata/menu/crd.yaml")
	prompt := "Server/v1> "
	c.awaitRows(strings.TrimSpace(prompt))
	c.typed("self.spec." + tab)
	c.awaitRows(prompt+"self.spec.", "> mode  string", "  port  integer",
		"  enum standby, standalone, primary; Mode determines which of the servers of a",
		"  cluster accepts writes. A server without peers is standalone, and a standby …")
	c.typed(down)
	c.awaitRows(prompt+"self.spec.", "  mode  string", "> port  integer", "  maximum 65535; The port.")
	c.typed(up + "\r == 'p" + tab)
	c.awaitRows(prompt+"self.spec.mode == 'primary'", "…")
	c.typed(strings.Repeat("\x7f", 8) + "s" + tab)
	c.awaitRows(prompt+"self.spec.mode == 'stand", "> standby'", "  standalone'")
	c.typed("a")
	c.awaitRows(prompt+"self.spec.mode == 'standa", "> standalone'")
	c.typed("\r")
	c.awaitRows(prompt+"self.spec.mode == 'standalone'", "  : boolean")
	c.typed(strings.Repeat("\x7f", 4) + "'" + left + tab) // the quote is there already
	c.awaitRows(prompt+"self.spec.mode == 'standalone'", "  : boolean")
	c.typed("\x15:se" + tab)
	c.awaitRows(prompt + ":set")
	c.typed("\x15:a" + tab)
	c.awaitRows(prompt+":a", "> :as      evaluate another kind of write, or the writes of a user", "  :add     add a rule here, or at PATH", "  :advice…", "  :as [status|object|apply|user NAME]")
}

func TestTerminalMenuResize(t *testing.T) {
	t.Parallel()
	c := readyConsole(t)
	c.typed("self.spec." + tab)
	c.awaitRows(cronPrompt+"self.spec.", "> env          list-map of object", "…", "…", "…", "…", "…", "…")
	c.resize(30, 12)
	c.awaitRows(cronPrompt+"self.spec.", "> env…", "…", "…", "…", "…", "…", "…")
	c.resize(100, 8)
	c.await("a smaller menu", func() bool { return c.row(0) == cronPrompt+"self.spec." && strings.HasPrefix(c.row(1), "> env") })
	c.typed(down + down + "\r")
	c.awaitRows(cronPrompt+"self.spec.maxReplicas", "  10 : integer; cost 3")
	c.resize(80, 24)
	c.typed(" + 1")
	c.awaitRows(cronPrompt+"self.spec.maxReplicas + 1", "  11 : integer; cost 4")
}

func TestTerminalSearch(t *testing.T) {
	t.Parallel()
	c := readyConsole(t)
	c.typed("111 + 1\r")
	c.expect("112\r\n")
	c.typed("222 + 1\r")
	c.expect("223\r\n")
	c.awaitRows(strings.TrimSpace(cronPrompt))
	c.typed("\x12+ 1")
	c.awaitRows(cronPrompt+"222 + 1", "bck-i-search: + 1_")
	c.typed("\x12")
	c.awaitRows(cronPrompt+"111 + 1", "bck-i-search: + 1_")
	c.typed("\x12")
	c.awaitRows(cronPrompt+"111 + 1", "failing bck-i-search: + 1_")
	c.typed("\x07")
	c.awaitRows(strings.TrimSpace(cronPrompt))
	c.typed("\x1211" + "\r")
	c.expect("112\r\n")
	c.awaitRows(strings.TrimSpace(cronPrompt))
	c.typed("\x12nope" + ctrlC)
	c.awaitRows(strings.TrimSpace(cronPrompt))
}
