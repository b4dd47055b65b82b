package markers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/go-markers.md")
	if err != nil {
		t.Fatal(err)
	}
	const generator = "controller-gen "
	_, command, ok := strings.Cut(string(page), "\n"+generator)
	command, _, _ = strings.Cut(command, "\n")
	if !ok {
		t.Fatal("the page has no such command")
	}
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin+"/celadon", "./cmd/celadon")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "cd testdata && go tool "+generator+command)
	cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "8 of 8 rules found") {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}
