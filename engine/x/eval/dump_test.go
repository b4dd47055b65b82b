package eval

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine/x/celenv"
)

var updateDumps = flag.Bool("update", false, "write the golden files anew")

func dumpOf(t *testing.T, src string) string {
	t.Helper()
	decl := declare(t, read(t, "testdata/schema.yaml"))
	env := environment(t, decl, false)
	checked, err := celenv.Check(env, src)
	if err != nil {
		t.Fatal(err)
	}
	text, err := NewPlanner(env).Dump(checked, celenv.RuleRoots(decl, false))
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return text
}

func TestDumpGolden(t *testing.T) {
	t.Parallel()
	const file = "testdata/dumps.txt"
	want := read(t, file)
	var got strings.Builder
	for _, block := range strings.Split(want, "\n\n") {
		src, _, _ := strings.Cut(block, "\n")
		src = strings.TrimPrefix(strings.TrimSpace(src), "# ")
		if src != "" {
			got.WriteString("# " + src + "\n" + dumpOf(t, src) + "\n")
		}
	}
	if *updateDumps {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != want {
		t.Errorf("plans have changed (-update rewrites them):\n%s", got.String())
	}
}

// TestTypicalIsTyped checks that all code of the typical rules is typed, except for int-or-strings,
// optionals, and the lists that rules fall back on.
func TestTypicalIsTyped(t *testing.T) {
	t.Parallel()
	for _, c := range typical {
		if slices.Contains([]string{"port", "ternary", "optional", "optional list"}, c.name) {
			continue
		}
		for _, line := range strings.Split(dumpOf(t, c.rule), "\n") {
			form, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
			if boxed := strings.HasPrefix(form, "boxed") || strings.Contains(form, "equality"); boxed && !strings.Contains(form, ", ") {
				t.Errorf("%s: %s", c.name, line)
			}
		}
	}
}
