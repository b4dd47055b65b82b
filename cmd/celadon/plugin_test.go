package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func TestPlugin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, want, never string }{
		{"check --help", "kubectl celadon check [--crd PATH...] OBJECTS... [flags]", " celadon check --crd crd.yaml"},
		{"check", "kubectl celadon: no objects given: want files, folders, or - (see kubectl celadon check --help)", ""},
		{"check --sumary", "kubectl celadon: unknown flag: --sumary; did you mean --summary? (see kubectl celadon check --help)", ""},
		{"chek", "(see kubectl celadon --help)", ""},
		{"--help", "kubectl celadon [command]", ""},
		{"diff --help", "kubectl get crontabs -A -o json | kubectl celadon diff --objects -", ""},
	} {
		var out bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, name: command.Called("/usr/bin/kubectl-celadon.exe")}
		a.run(t.Context(), strings.Fields(c.line))
		text := strings.ReplaceAll(out.String(), "kubectl celadon", "kubectl-celadon")
		if !strings.Contains(out.String(), c.want) || c.never != "" && strings.Contains(text, c.never) {
			t.Errorf("%s: %s", c.line, &out)
		}
	}
	if runtime.GOOS != "windows" {
		pluginFiles(t)
	}
	if command.Called("/usr/bin/celadon") != "celadon" {
		t.Error("celadon is called celadon")
	}
}

func pluginFiles(t *testing.T) {
	t.Helper()
	page := string(readFile(t, "../../docs/cluster.md"))
	_, block, _ := strings.Cut(page, "```sh\n")
	block, _, _ = strings.Cut(block, "kubectl celadon check")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	// This stub looks for plugins in $PATH as kubectl does.
	kubectl := "#!/bin/sh\nname=kubectl-$1\nshift\nexec $name \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "bin", "kubectl"), []byte(kubectl), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", block+"\nkubectl celadon check; kubectl_complete-celadon check --validate ''")
	cmd.Env = append(os.Environ(), "HOME="+dir, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if !bytes.Contains(out, []byte("(see kubectl celadon check --help)")) || !bytes.Contains(out, []byte("\nstrict\nwarn\nignore\n")) {
		t.Errorf("%v\n%s\n%s", err, block, out)
	}
}
