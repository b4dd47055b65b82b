package gotree

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// mapFS returns a file system with the files in text, each preceded by a line "== name".
func mapFS(text string) fstest.MapFS {
	files := fstest.MapFS{}
	for _, part := range strings.Split(text, "== ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		files[name] = &fstest.MapFile{Data: []byte(body)}
	}
	return files
}

const repository = `
== go.mod
module example.com/m // a comment

go 1.26
toolchain go9.9.9

require "example.com/quoted" v1.0.0
require (
	example.com/Big/mod v1.2.3 // indirect
	example.com/Big/mod/nested v0.1.0
	example.com/replaced v1.0.0
	example.com/local v1.0.0
	example.com/outside v1.0.0
	example.com/gone v1.0.0
	example.com/newer v1.1.0
	example.com/absolute v1.0.0
	example.com/inwork v1.0.0
	example.com/evil v1.0.0/../../../etc
)
replace example.com/replaced v1.0.0 => example.com/other v2.0.0
replace (
	example.com/local => ./third/local
	example.com/outside => ../../outside
	example.com/newer v1.0.0 => example.com/other v2.0.0
	example.com/absolute => /elsewhere/absolute
	example.com/inwork => ./none
)
== a/a.go
package a
== a/a_test.go
package a
== a/_skip.go
package a
== a/a_windows.go
package a
== a/a_linux_arm64.go
package a
== a/sub/c_linux.go
package a
== a/sub/b.go
package sub
== a/testdata/c.go
package c
== a/.hidden/d.go
package d
== a/vendor/e.go
package e
== a/module/go.mod
module example.com/m/a/module
== a/module/f.go
package f
== third/local/go.mod
module example.com/local
== third/local/p/g.go
package p
== vendor/example.com/vendored/h.go
package h
`

const cache = `
== example.com/!big/mod@v1.2.3/p/a.go
package p
== example.com/!big/mod/nested@v0.1.0/p/b.go
package p
== example.com/newer@v1.1.0/n.go
package newer
== example.com/absolute@v1.0.0/a.go
package absolute
== example.com/other@v2.0.0/c.go
package other
`

func names(t *testing.T, open func() (*Tree, error), dir string) string {
	t.Helper()
	tree, err := open()
	if err != nil {
		t.Fatal(err)
	}
	files, err := tree.Packages(dir)
	if err != nil {
		return err.Error()
	}
	var list []string
	for _, f := range files {
		list = append(list, f.Package+": "+f.Name)
	}
	return strings.Join(list, "\n")
}

func TestPackages(t *testing.T) {
	t.Parallel()
	open := func() (*Tree, error) { return Open(Config{Repository: mapFS(repository)}, "a/sub") }
	for dir, want := range map[string]string{
		"a":        "example.com/m/a: a/a.go\nexample.com/m/a/sub: a/sub/b.go\nexample.com/m/a/sub: a/sub/c_linux.go",
		"a/sub":    "example.com/m/a/sub: a/sub/b.go\nexample.com/m/a/sub: a/sub/c_linux.go",
		"a/module": "not in the module example.com/m: vet one module at a time",
		"none":     "none: file does not exist",
	} {
		if diff := cmp.Diff(want, names(t, open, dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", dir, diff)
		}
	}
	if _, err := Open(Config{Repository: mapFS("== a.go\npackage a\n")}, "."); err != ErrNoModule {
		t.Errorf("without go.mod: %v", err)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	work := mapFS(repository + "== go.work\nuse (\n\t.\n\t./a/module\n)\nreplace example.com/inwork v1.0.0 => ./third/local/p\n")
	for path, want := range map[string]string{
		"example.com/m/a":                "a/a.go",
		"example.com/m/a/module":         "a/module/f.go",
		"example.com/local/p":            "third/local/p/g.go",
		"example.com/vendored":           "vendor/example.com/vendored/h.go",
		"example.com/Big/mod/p":          "CACHE/example.com/!big/mod@v1.2.3/p/a.go",
		"example.com/Big/mod/nested/p":   "CACHE/example.com/!big/mod/nested@v0.1.0/p/b.go",
		"example.com/replaced":           "CACHE/example.com/other@v2.0.0/c.go",
		"example.com/newer":              "CACHE/example.com/newer@v1.1.0/n.go",
		"example.com/absolute":           "/elsewhere/absolute is not in the repository",
		"example.com/inwork":             "third/local/p/g.go",
		"example.com/gone/p":             "module example.com/gone v1.0.0 is not in the module cache: run go mod download example.com/gone",
		"example.com/quoted":             "module example.com/quoted v1.0.0 is not in the module cache: run go mod download example.com/quoted",
		"example.com/modern":             "no module in go.mod provides this package: run go mod tidy",
		"example.com/outside":            "../../outside is not in the repository",
		"example.com/evil/passwd":        "module example.com/evil v1.0.0/../../../etc is not in the module cache: run go mod download example.com/evil",
		"example.com/m/../../../etc":     "../../../etc is not in the repository",
		"example.com/Big/mod/../../evil": "module example.com/Big/mod v1.2.3 is not in the module cache: run go mod download example.com/Big/mod",
	} {
		tree, err := Open(Config{Repository: work, Cache: mapFS(cache), CacheName: "CACHE"}, "a")
		if err != nil {
			t.Fatal(err)
		}
		files, err := tree.Import(path)
		got := fmt.Sprint(err)
		if err == nil && len(files) == 1 {
			got = files[0].Name
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, "tree", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/m\n")
	write("a/a.go", "package a\n")
	write("a/huge.go", "package a\n//"+strings.Repeat("x", maxFile))
	write("deep/"+strings.Repeat("d/", maxDepth+1)+"d.go", "package d\n")
	if err := os.WriteFile(filepath.Join(dir, "secret.go"), []byte("package a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"a/out.go": "../../secret.go", "a/abs.go": filepath.Join(dir, "secret.go"), "a/dir.go": ".", "a/loop": "..", "a/in.go": "a.go", "a/dangling.go": "none"} {
		if err := os.Symlink(target, filepath.Join(dir, "tree", name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "tree"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tree, err := Open(Config{Repository: root.FS()}, ".")
	if err != nil {
		t.Fatal(err)
	}
	files, err := tree.Packages("a")
	if err != nil || len(files) != 2 || files[0].Name != "a/a.go" || files[1].Name != "a/in.go" {
		t.Errorf("got %d files, %v: want a.go and the link to it", len(files), err)
	}
	var bad []string
	for _, b := range tree.Bad() {
		bad = append(bad, b.Name+": "+b.Err.Error())
	}
	want := []string{
		"a/abs.go: path escapes from parent", "a/dangling.go: no such file or directory", "a/dir.go: want a regular file",
		"a/huge.go: more than 16 MiB", "a/out.go: path escapes from parent",
	}
	if diff := cmp.Diff(want, bad); diff != "" {
		t.Errorf("bad files (-want +got):\n%s", diff)
	}
	if _, err := tree.Packages("deep"); err == nil || !strings.Contains(err.Error(), "folders more than 100 deep") {
		t.Errorf("deep: %v", err)
	}
}

type endless struct{ fs.ReadDirFile }

func (endless) Close() error { return nil }
func (endless) ReadDir(n int) ([]fs.DirEntry, error) {
	return make([]fs.DirEntry, n), nil
}

type endlessFS struct{ fs.FS }

func (e endlessFS) Open(name string) (fs.File, error) {
	if name == "a" {
		return endless{}, nil
	}
	return e.FS.Open(name)
}

func TestEndlessFolder(t *testing.T) {
	t.Parallel()
	tree, err := Open(Config{Repository: endlessFS{mapFS(repository)}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Packages("a"); err == nil || err.Error() != "a: more than 100000 entries" {
		t.Errorf("got %v", err)
	}
}

func TestTooMuch(t *testing.T) {
	t.Parallel()
	tree, err := Open(Config{Repository: mapFS(repository)}, ".")
	if err != nil {
		t.Fatal(err)
	}
	tree.files = maxFiles
	if _, err := tree.Packages("a"); err == nil || !strings.Contains(err.Error(), "name fewer packages") {
		t.Errorf("got %v", err)
	}
}

// FuzzGoMod checks that no go.mod file leads outside the file systems.
func FuzzGoMod(f *testing.F) {
	f.Add("module a\nrequire (\nb v1\n)\nreplace b => ./c")
	f.Add("replace => =>\nrequire \"\nuse (\nx")
	f.Fuzz(func(t *testing.T, text string) {
		m := parseMod(text)
		tree := &Tree{repository: fstest.MapFS{}, cache: fstest.MapFS{}, module: m, at: ".", local: map[string]string{}}
		tree.addReplacements()
		for module := range m.requires {
			if files, err := tree.Import(module + "/p"); err == nil {
				t.Fatalf("%s: %d files of nothing", module, len(files))
			}
		}
	})
}
