//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const newcomerPrompt = "DatabaseCluster/v1 spec>"

func TestNewcomer(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"crd.yaml", "main.yaml", "others.yaml"} {
		data, err := os.ReadFile("../../examples/database/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	lines, err := os.ReadFile("testdata/newcomer/lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("celadon", "repl", "crd.yaml", "main.yaml")
	cmd.Dir = folder
	c := startConsole(t, []string{"XDG_STATE_HOME=" + t.TempDir(), "XDG_CONFIG_HOME=" + t.TempDir(), "VISUAL=", "EDITOR="}, cmd)
	c.resize(100, 30)
	c.expect("DatabaseCluster/v1> ")
	for line := range strings.Lines(string(lines)) {
		line = strings.TrimSuffix(line, "\n")
		for _, key := range line {
			c.typed(string(key))
		}
		c.await(line, func() bool {
			at, _ := c.screen.Cursor()
			rows := c.screen.Rows()
			before := strings.ReplaceAll(strings.Join(rows[:min(at+1, len(rows))], ""), " ", "")
			return strings.HasSuffix(before, strings.ReplaceAll(line, " ", ""))
		})
		c.typed("\r")
		c.await("the reply to "+line, func() bool {
			rows := c.screen.Rows()
			return len(rows) > 0 && rows[len(rows)-1] == newcomerPrompt
		})
	}
	got := strings.Join(c.screen.All(), "\n") + "\n"
	if err := c.leave(); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{"vet", "-o", "text", "--quiet", "crd.yaml"}, {"check", "--crd", "crd.yaml", "main.yaml", "others.yaml"}} {
		cmd := exec.Command("celadon", args...)
		cmd.Dir = folder
		out, _ := cmd.CombinedOutput() // some objects are rejected
		got += "$ celadon " + strings.Join(args, " ") + "\n" + string(out)
	}
	const golden = "testdata/newcomer/want.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got (-update writes it):\n%s", diff)
	}
}
