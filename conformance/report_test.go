package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReport(t *testing.T) {
	t.Parallel()
	fill := func() *Report {
		r := NewReport("mode")
		r.Add("good")
		r.Add("bad", Difference{"cause differs", "- a\n+ b"}, Difference{"warnings", "- c"})
		r.Error("ugly", errors.New("timeout after 30 s"))
		r.Note("old objects put into etcd")
		return r
	}
	for _, c := range []struct {
		name, known, want string
		fails             bool
	}{
		{
			name: "nothing known", fails: true,
			want: `mode: 1 × cause differs
  bad
      - a
      + b
    warnings
      - c
mode: 1 × not tried: timeout after 0 s
  ugly
      timeout after 30 s
mode: 1 old objects put into etcd
mode: 1 passed, 2 failed
`,
		},
		{
			name: "all known", known: "# why\nmode bad: a reason\n\nmode ugly: another: reason\nother good: not this mode\n",
			want: `mode: 1 old objects put into etcd
mode: 1 passed, 2 failed (2 of them known)
`,
		},
		{
			name: "known but passes", known: "mode bad: x\nmode ugly: x\nmode good: x\n", fails: true,
			want: `mode: good passes, but is listed as a known failure
mode: 1 old objects put into etcd
mode: 1 passed, 2 failed (2 of them known)
`,
		},
	} {
		var out strings.Builder
		err := fill().Close(&out, readKnown(t, c.known))
		if d := cmp.Diff(c.want, out.String()); d != "" {
			t.Errorf("%s: want (-), got (+):\n%s", c.name, d)
		}
		if (err != nil) != c.fails {
			t.Errorf("%s: error %v, want one: %t", c.name, err, c.fails)
		}
	}
}

func TestKnownWantsAReason(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "known")
	if err := os.WriteFile(file, []byte("mode case\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKnown(file); err == nil {
		t.Error("a line without a reason was read")
	}
}

func readKnown(t *testing.T, text string) Known {
	t.Helper()
	file := filepath.Join(t.TempDir(), "known")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	known, err := ReadKnown(file)
	if err != nil {
		t.Fatal(err)
	}
	return known
}
