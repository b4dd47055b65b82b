package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/internal/testing/level"
)

// editors maps each editor to the command line that runs its script. Editors that are not installed are
// skipped.
var editors = map[string][]string{
	"emacs": {"emacs", "--no-init-file", "--batch", "-l", "emacs.el"},
	"nvim":  {"nvim", "--headless", "-u", "NONE", "-c", "luafile nvim.lua", "-c", "cquit"},
}

func editorSettings(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/editors.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for language, file := range map[string]string{"lua": "settings.lua", "elisp": "settings.el"} {
		blocks := strings.Split(string(page), "```"+language+"\n")
		block, _, ok := strings.Cut(blocks[len(blocks)-1], "```")
		if !ok || len(blocks) < 2 {
			t.Fatalf("docs/editors.md has no block in %s", language)
		}
		found[file] = block
	}
	return found
}

func TestEditors(t *testing.T) {
	if !level.Long() {
		t.Skip("CELADON_LEVEL=long runs it")
	}
	bin := filepath.Join(t.TempDir(), "celadon")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, args := range editors {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(args[0]); err != nil {
				t.Skipf("NO %s: not tried", name)
			}
			dir := t.TempDir()
			for _, file := range []string{"crd.yaml", "emacs.el", "nvim.lua"} {
				data, err := os.ReadFile(filepath.Join("testdata", "editors", file))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, file), data, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			for file, text := range editorSettings(t) {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Dir(bin)+string(os.PathListSeparator)+os.Getenv("PATH"))
			var out, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s\n%s", err, out.String(), stderr.String())
			}
			for _, want := range []string{"undefined field 'sise'", "completion: size\n", "action: self.size > 1\n", "hover: self.size", "end: ok\n"} {
				if !strings.Contains(strings.ReplaceAll(out.String(), "\r", ""), want) {
					t.Errorf("no %q in\n%s\n%s", want, out.String(), stderr.String())
				}
			}
		})
	}
}
