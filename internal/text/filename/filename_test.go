package filename_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/text/filename"
)

func TestJoin(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"crontabs.stable.example.com.md", "a-v1.testsuite.yaml", "my crd-v1.yaml", "ä.yaml", "a..b", strings.Repeat("a", 255)} {
		got, err := filename.Join("out/sub", name)
		if err != nil || got != filepath.Join("out", "sub", name) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for _, name := range []string{
		"", ".", "..", "../a", "/a", "a/b", "a/../b", `a\b`, `..\a`, "C:a", "a:stream", ".bashrc", ".git", "-o", "--out=x",
		"a\x00b", "a\nb", "a\x1b[1m", "a\u202eb", "a\xff", strings.Repeat("a", 256),
	} {
		if got, err := filename.Join("out", name); err == nil {
			t.Errorf("%q: got %q, want an error", name, got)
		} else if len(err.Error()) > 400 {
			t.Errorf("%q: long error: %v", name, err)
		}
	}
}

func FuzzJoin(f *testing.F) {
	for _, name := range []string{"a.yaml", "../a", `..\a`, ".", "a/..", "\u2215..", "NUL"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := filename.Join("out", name)
		if err == nil && (filepath.Dir(got) != "out" || filepath.Base(got) != name) {
			t.Errorf("%q: got %q", name, got)
		}
	})
}
