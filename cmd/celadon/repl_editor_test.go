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

// TestTerminalEditor edits a rule in $EDITOR, which keeps line breaks.
func TestTerminalEditor(t *testing.T) {
	script := writeScript(t, `printf 'self.replicas\n  < 7\n' > "$1"`+"\n")
	c := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir(), "VISUAL=", "EDITOR="+script)
	c.expect("CronTab/v1> ")
	c.typed(":cd spec\r:edit 1\r")
	c.expect("self.replicas < 7")
	c.expect("CronTab/v1 spec> ")
	c.typed(":diff\r")
	c.expect("+                self.replicas\r\n+                  < 7\r\n")
	c.typed(":undo\r")
	c.expect("undid :edit 1")
	if err := c.leave(); err != nil {
		t.Error(err)
	}

	broken := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir(), "VISUAL="+writeScript(t, "exit 3\n"))
	broken.expect("CronTab/v1> ")
	broken.typed(":cd spec\r:edit 0\r")
	broken.expect("exit status 3")
	broken.typed("40 + 2\r")
	broken.expect("42\r\n")

	missing := cronTabConsole(t, "XDG_STATE_HOME="+t.TempDir(), "VISUAL=no-such-editor")
	missing.expect("CronTab/v1> ")
	missing.typed(":cd spec\r:edit 0\r")
	missing.expect("error: editor no-such-editor: ")
}
