package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plant creates files, and links whose names end with " -> TARGET".
func plant(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		name, target, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil && link {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestInside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, "tree/m/a", "tree/.git/config", "tree/sub/.git/config", "out",
		"tree/in -> m/a", "tree/lead -> ../out", "tree/up -> ..", "tree/set -> .git/config", "tree/SET -> .GIT/config", "tree/loop -> loop", "tree/gone -> ../gone")
	for path, want := range map[string]bool{
		"tree": true, "tree/m": true, "tree/in": true, "tree/new": true, "tree/m/../m/a": true,
		"out": false, "tree/../out": false, "tree/lead": false, "tree/up/out": false, "tree/up/new": false, "tree/gone": false,
		"tree/set": false, "tree/SET": false, "tree/.git": false, "tree/.git/config": false, "tree/sub/.git": false, "tree/loop": false,
	} {
		if got := Inside(filepath.Join(dir, "tree"), dir+"/"+path); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}

// TestLinks checks paths to read and paths to write in one table. The working directory is not in a work tree.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "repo/.git/config", "repo/m/a", "repo/m/deep/b", "out/c", "out/deep/d", "inner/.git/config", "plain/e",
		"repo/in -> m", "repo/in2 -> in/a", "repo/self -> .", "repo/around -> m/../../repo/m",
		"repo/lead -> ../out", "repo/m/file -> ../../out/c", "repo/absolute -> "+dir+"/out", "repo/gone -> ../gone/x",
		"repo/deep -> ../out/deep", "repo/twice -> lead/c", "repo/git -> .git", "repo/m/config -> ../.git/config", "repo/loop -> loop",
		"repo/sub/.git", "repo/sub/up -> ../m", "repo/into -> sub",
		"above -> repo", "aside -> out", "plain/lead -> ../out", "plain/in -> e")
	for name, want := range map[string]struct{ read, write string }{
		"repo/m/a": {}, "repo/in/a": {}, "repo/in2": {}, "repo/self/self/m": {}, "repo/around/a": {}, "repo/new/x": {}, "repo/into/x": {},
		"repo/../out/c": {}, "repo/in/../../out/c": {}, // the user wrote ..
		"above/m/a": {}, "aside/c": {}, "plain/e": {}, "plain/in": {}, "out/c": {},
		"repo/.git/config":    {}, // named without a link
		"repo/lead/c":         {"lead", "lead"},
		"repo/m/file":         {"m/file", "m/file"},
		"repo/m/../lead":      {"lead", "lead"},
		"repo/in/file":        {"m/file", "m/file"},
		"repo/absolute/c":     {"absolute", "absolute"},
		"repo/gone":           {"gone", "gone"},
		"repo/deep/../../x":   {"deep", "deep"},
		"repo/twice":          {"lead", "lead"},
		"repo/git/hooks/x":    {"git", "git"},
		"repo/m/config":       {"m/config", "m/config"},
		"repo/sub/up/a":       {"up", "up"},
		"above/lead/c":        {"lead", "lead"},
		"aside/../repo/lead":  {"lead", "lead"},
		"plain/lead/c":        {"", ""}, // below the working directory: see the end
		"repo/loop":           {"", "loop"},
		"inner/.git/../../in": {},
	} {
		_, err := Locate(dir + "/" + name)
		if err == nil != (want.write == "") || err != nil && !strings.Contains(err.Error(), want.write) {
			t.Errorf("write %s: %v, want %q", name, err, want.write)
		}
		err = CheckLinks("", "-", dir+"/"+name)
		var escape *EscapeError
		if err == nil != (want.read == "") || err != nil && (!errors.As(err, &escape) || !strings.HasSuffix(escape.Link, filepath.FromSlash("/"+want.read))) {
			t.Errorf("read %s: %v, want %q", name, err, want.read)
		}
	}

	t.Chdir(filepath.Join(dir, "plain"))
	for path, want := range map[string]bool{"e": true, "in": true, "new": true, "../out/c": true, "lead/c": false} {
		if _, err := Locate(path); err == nil != want {
			t.Errorf("write %s without git: %v", path, err)
		}
		if err := CheckLinks(path); err != nil {
			t.Errorf("read %s without git: %v", path, err)
		}
	}
	t.Chdir(filepath.Join(dir, "repo", "m"))
	for path, want := range map[string]bool{"a": true, "deep/b": true, "../in/a": true, "../lead/c": false, "file": false} {
		if _, err := Locate(path); err == nil != want {
			t.Errorf("write %s: %v", path, err)
		}
		if err := CheckLinks(path); err == nil != want {
			t.Errorf("read %s: %v", path, err)
		}
	}
	at, err := Locate("../in/new")
	if err != nil || filepath.Base(at.Tree) != "repo" || !strings.HasSuffix(at.Path, filepath.FromSlash("repo/m/new")) {
		t.Errorf("%+v, %v", at, err)
	}
	if at, err := Locate(dir + "/out/new"); err != nil || at.Tree != "" {
		t.Errorf("%+v, %v", at, err)
	}
}
