//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// writeScript writes an executable shell script and returns its path.
func writeScript(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTerminalEditor edits a rule in $EDITOR, which keeps line breaks, and an object. It also runs the
// user's start file.
func TestTerminalEditor(t *testing.T) {
	config := t.TempDir()
	if err := os.Mkdir(filepath.Join(config, "celadon"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "celadon", "start.txt"), []byte(":cd spec\n:set preview off\n:set color ed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := writeScript(t, `case "$1" in
*.cel) printf 'self.replicas\n  < 7\n' > "$1";;
*) sed -i.bak 's/2 \* \* \*/3 * * */' "$1";;
esac
`)
	c := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+config, "VISUAL=", "EDITOR="+script)
	c.expect("error: :set color ed: want on or off\r\nerror: ")
	c.expect("start.txt:3: stopped at this line\r\n")
	c.expect("CronTab/v1 spec> ")
	c.typed(":edit 1\r")
	c.expect("self.replicas < 7")
	c.expect("CronTab/v1 spec> ")
	c.typed(":diff\r")
	c.expect("+                self.replicas\r\n+                  < 7\r\n")
	c.typed(":set\r")
	c.expect("CronTab/v1 spec> ")
	c.typed("self.schedule\r")
	c.expect(`"30 3 * * *"`)
	c.typed(":undo\r:undo\r")
	c.expect("undid :edit 1")
	if err := c.leave(); err != nil {
		t.Error(err)
	}

	broken := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "VISUAL="+writeScript(t, "exit 3\n"))
	broken.expect("CronTab/v1> ")
	broken.typed(":set spec\r")
	broken.expect("exit status 3")
	broken.typed("40 + 2\r")
	broken.expect("42\r\n")

	missing := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "VISUAL=no-such-editor")
	missing.expect("CronTab/v1> ")
	missing.typed(":edit\r")
	missing.expect("error: editor no-such-editor: ")
}
