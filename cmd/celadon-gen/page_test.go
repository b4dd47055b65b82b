package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPage runs the commands in docs/go-markers.md that use celadon-gen.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/go-markers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```sh\ngo build -C cmd/celadon-gen ")
	block, _, _ = strings.Cut(block, "```")
	commands := strings.Split(strings.TrimSpace("go build -C cmd/celadon-gen "+block), "\n")
	if len(commands) != 2 || !strings.HasPrefix(commands[1], "celadon-gen ") || !strings.Contains(string(page), "controller-gen "+toolsVersion+" does") {
		t.Fatalf("the page has different commands: %q", commands)
	}
	bin := t.TempDir()
	for _, build := range []string{strings.Replace(commands[0], "../../bin", bin, 1), "go build -o " + bin + "/celadon ./cmd/celadon"} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", build)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", build, err, out)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", commands[1])
	cmd.Dir = "testdata"
	cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "8 of 8 rules found") {
		t.Errorf("%s: %v\n%s", commands[1], err, out)
	}
}
