//go:build unix

package outfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
)

func TestLinksOutOfTheTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"tree/.git", "tree/sub", "outside/sub", "aside"} {
		if err := os.MkdirAll(in(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"tree/file", "outside/file", "tree/.git/config", "outside/.celadon-file-1"} {
		if err := os.WriteFile(in(name), []byte("before"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"tree/out": "../outside", "tree/file.out": "../outside/file", "tree/new.out": "../outside/new", "tree/absolute": in("outside"),
		"tree/git": ".git", "tree/sub/up": "../out/sub", "tree/in": "sub", "tree/file.in": "file", "above": "tree", "aside/out": "../outside", "tree/null": "/dev/null",
	} {
		if err := os.Symlink(to, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, escapes := range map[string]bool{
		"tree/out/file": true, "tree/out/new": true, "tree/file.out": true, "tree/new.out": true, "tree/absolute/new": true, "tree/git/config": true,
		"tree/sub/up/new": true, "above/out/file": true, "tree/null": true,
		"tree/in/new": false, "tree/file.in": false, "above/sub/new2": false, "aside/out/new3": false,
	} {
		var escape *worktree.EscapeError
		err := Write(in(name), []byte("after"))
		if errors.As(err, &escape) != escapes || err != nil && !escapes {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && !strings.HasSuffix(err.Error(), "not written: remove the link, or name the file or folder that it leads to") {
			t.Errorf("%s: no way out: %v", name, err)
		}
		if err := Replace(in(name), []byte("after"), []byte("after")); err == nil == escapes {
			t.Errorf("%s: replaced: %v", name, err)
		}
		if f, err := Append(in(name), 0o600); err == nil == escapes {
			t.Errorf("%s: appended to: %v", name, err)
		} else if err == nil {
			f.Close()
		}
		if strings.HasPrefix(name, "tree/out/") {
			Clean(in(name))
		}
	}
	for name, escapes := range map[string]bool{"tree/out/a/b": true, "tree/new.out": true, "tree/in/a/b": false, "tree/a/b": false, "aside/a/b": false, "aside/out/a": false} {
		if err := MkdirAll(in(name), 0o755); err == nil == escapes {
			t.Errorf("%s: created: %v", name, err)
		}
	}
	for name, want := range map[string]string{"outside/file": "before", "tree/.git/config": "before", "outside/.celadon-file-1": "before", "tree/file": "after", "tree/sub/new": "after", "outside/new3": "after"} {
		if data, err := os.ReadFile(in(name)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if entries, err := os.ReadDir(in("outside")); err != nil || len(entries) != 5 { // with sub, new3, a
		t.Errorf("%v, %v", entries, err)
	}
	for _, folder := range []string{"tree", "tree/sub", "aside"} {
		if left, err := filepath.Glob(in(folder + "/.celadon-*")); err != nil || len(left) > 0 {
			t.Errorf("%v, %v", left, err)
		}
	}
}

func TestDevices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		data, _ := os.ReadFile(fifo)
		read <- string(data)
	}()
	if err := Write(fifo, []byte("text")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "text" {
		t.Errorf("a pipe: %q", got)
	}
	if err := Write("/dev/null", []byte("text")); err != nil {
		t.Error(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := Write(filepath.Join("/dev/fd", strconv.Itoa(int(w.Fd()))), []byte("text")); err != nil {
		t.Error(err)
	}
	w.Close()
	if data, err := io.ReadAll(r); err != nil || string(data) != "text" {
		t.Errorf("a descriptor: %q, %v", data, err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(fifo, nil); err == nil || !strings.HasSuffix(err.Error(), "not a regular file") {
		t.Errorf("a pipe in a work tree: %v", err)
	}
}
