package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{"plain": 0o640, "secret": 0o600, "linked": 0o755} {
		if err := os.WriteFile(in(name), []byte("before"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(in(name), mode); err != nil { // independent of the umask
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "linked", "loop": "loop", "nowhere": "gone"} {
		if err := os.Symlink(to, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"plain": "", "secret": "", "link": "", "new": "",
		"nowhere": "a dangling link: want a file",
		"loop":    "a dangling link: want a file",
		".":       "not a regular file",
		"no/new":  "no such file or directory",
	} {
		err := Write(in(name), []byte("after"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for name, mode := range map[string]os.FileMode{"plain": 0o640, "secret": 0o600, "linked": 0o755, "new": 0o644} {
		data, err := os.ReadFile(in(name))
		info, err2 := os.Stat(in(name))
		if err != nil || err2 != nil || string(data) != "after" || info.Mode() != mode {
			t.Errorf("%s: %q, %v, %v, %v", name, data, info, err, err2)
		}
	}
	if to, err := os.Readlink(in("link")); err != nil || to != "linked" {
		t.Errorf("the link: %q, %v", to, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 7 {
		t.Errorf("files in the directory: got %v, %v, want 7", entries, err)
	}
}

func TestReplaceRejectsWhatChanged(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "f")
	if err := Write(name, []byte("before")); err != nil {
		t.Fatal(err)
	}
	if err := Replace(name, []byte("something else"), []byte("after")); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that has changed: %v", err)
	}
	if err := Replace(name, []byte("before"), []byte("after")); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "after" {
		t.Errorf("%q, %v", data, err)
	}
	if err := Replace(name+"gone", nil, nil); err == nil {
		t.Error("a file that is not there")
	}
}
