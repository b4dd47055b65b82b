package main

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unpublished lists modules that no other module requires: checks, examples, and test data.
var unpublished = []string{"celadonvet/testdata/app", "conformance", "conformance/markers", "conformance/scoreboard/kubectl-validate", "conformance/kube", "conformance/kubectl", "examples/markers", "examples/operator", "tools", "tools/release"}

func TestEveryModule(t *testing.T) {
	t.Parallel()
	known := append(slices.Clone(published), unpublished...)
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (strings.HasPrefix(d.Name(), ".git") || d.Name() == "node_modules" || name == "bin" || name == "dist") {
			return fs.SkipDir
		}
		if strings.HasPrefix(name, "conformance/minors/") { // one for each Kubernetes version
			return err
		}
		if err == nil && d.Name() == "go.mod" && !slices.Contains(known, strings.TrimPrefix(path.Dir(name), ".")) {
			t.Errorf("%s: the module is in neither list, published or unpublished: add it to one", path.Dir(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Everyone who requires a module downloads its files.
func TestNoBinaries(t *testing.T) {
	t.Parallel()
	files, err := git("../..", "ls-tree", "-r", "--long", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(files) {
		fields := strings.Fields(line)
		if size, err := strconv.Atoi(fields[3]); err != nil || size > 1<<20 {
			t.Errorf("%s has %s bytes: want a MiB at most", fields[4], fields[3])
		}
	}
}

func TestTag(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	mustWrite(t, repo, "go.mod", "module "+root+"\n\ngo 1.26\n")
	mustWrite(t, repo, "celadon.go", "package celadon\n")
	for _, dir := range published[1:] {
		mustWrite(t, repo, dir+"/go.mod", "module "+root+"/"+dir+"\n\ngo 1.26\n\nrequire "+root+" v0.0.0-00010101000000-000000000000\n\nreplace "+root+" => ../\n")
		mustWrite(t, repo, dir+"/go.sum", "")
	}
	mustGit(t, repo, "init", "--quiet")
	mustGit(t, repo, "config", "user.name", "somebody")
	mustGit(t, repo, "config", "user.email", "somebody@example.com")
	if err := tag(repo, "v0.1.0"); err == nil || !strings.Contains(err.Error(), "has changes") {
		t.Errorf("with changes: %v", err)
	}
	mustGit(t, repo, "add", ".")
	mustGit(t, repo, "commit", "--quiet", "-m", "all")
	for _, version := range []string{"", "1.0.0", "v1", "v0.1.0+dirty", "v2.0.0"} {
		if err := tag(repo, version); err == nil || !strings.Contains(err.Error(), "want a version") {
			t.Errorf("%q: %v", version, err)
		}
	}
	if err := tag(repo, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range published[1:] {
		goMod := mustGit(t, repo, "show", dir+"/v0.1.0:"+dir+"/go.mod")
		sum := mustGit(t, repo, "show", dir+"/v0.1.0:"+dir+"/go.sum")
		if strings.Contains(goMod, "replace") || !strings.Contains(goMod, root+" v0.1.0") || strings.Count(sum, root+" v0.1.0") != 2 {
			t.Errorf("%s:\n%s%s", dir, goMod, sum)
		}
	}
	out := t.TempDir()
	if err := writeProxy(repo, "v0.1.0", out); err != nil {
		t.Fatal(err)
	}
	for _, dir := range published {
		for _, suffix := range []string{".info", ".mod", ".zip"} {
			if info, err := os.Stat(filepath.Join(out, root, dir, "@v", "v0.1.0"+suffix)); err != nil || info.Size() == 0 {
				t.Errorf("%s%s: %v", dir, suffix, err)
			}
		}
	}
}

func mustGit(t *testing.T, repo string, args ...string) string {
	t.Helper()
	out, err := git(repo, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mustWrite(t *testing.T, repo, name, text string) {
	t.Helper()
	name = filepath.Join(repo, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSBOM(t *testing.T) {
	t.Parallel()
	var texts [2][]byte
	for i := range texts {
		name := filepath.Join(t.TempDir(), "bill.json")
		if err := writeSBOM(os.Args[0], name); err != nil {
			t.Fatal(err)
		}
		var err error
		if texts[i], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) || !bytes.Contains(texts[0], []byte(`"purl": "pkg:golang/golang.org/x/mod@v`)) || !bytes.Contains(texts[0], []byte(`"specVersion": "1.6"`)) {
		t.Errorf("got %s", texts[0])
	}
}

func read(t *testing.T, name ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(name...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
