package linediff

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{"a\n", "a\n", ""},
		{"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
		{"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"a\nb\n", "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"a\nx\ny\na\nx\ny\n", "a\nx\nz\ny\na\nx\nz\ny\n", "@@ -1,6 +1,8 @@\n a\n x\n+z\n y\n a\n x\n+z\n y\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "2\n3\n4\n5\n6\n7\n8\nx\n", "@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -6,4 +5,4 @@\n 6\n 7\n 8\n-9\n+x\n"},
	} {
		got := strings.TrimPrefix(string(Unified("f", "g", []byte(c.before), []byte(c.after))), "--- f\n+++ g\n")
		if got != c.want {
			t.Errorf("%q to %q:\n%s\nwant:\n%s", c.before, c.after, got, c.want)
		}
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("the patch command is missing")
	}
	file := filepath.Join(t.TempDir(), "f")
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		before := text(random, random.IntN(60))
		after := change(random, before)
		diff := Unified("f", "f", []byte(before), []byte(after))
		if diff == nil {
			continue
		}
		if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(patch, "-s", file)
		cmd.Stdin = strings.NewReader(string(diff))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, diff)
		}
		if got, err := os.ReadFile(file); err != nil && after != "" || string(got) != after {
			t.Fatalf("%q, want %q (%v):\n%s", got, after, err, diff)
		}
	}
}

func TestLarge(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&before, "a%d\n", i)
		fmt.Fprintf(&after, "b%d\n", i)
	}
	got := string(Unified("f", "f", []byte(before.String()), []byte(after.String())))
	if n := strings.Count(got, "\n"); n != 40_003 {
		t.Errorf("%d lines", n)
	}
}

func text(random *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%d\n", random.IntN(6))
	}
	return strings.TrimSuffix(b.String(), []string{"", "\n"}[random.IntN(2)])
}

func change(random *rand.Rand, text string) string {
	list := strings.SplitAfter(text, "\n")
	for range random.IntN(4) {
		i := random.IntN(len(list))
		list[i] = []string{"", "new\n", list[i] + list[i]}[random.IntN(3)]
	}
	return strings.Join(list, "")
}
