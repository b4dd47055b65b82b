//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func TestAttackShellCommands(t *testing.T) {
	r := strings.Repeat
	doc := "apiVersion: g.io/v1\nkind: T\nmetadata: {name: a}\nspec: {a: " + r("x", 1<<16) + "}\n---\n"
	cases := map[string]struct {
		text  string // of the file f.yaml; a sparse file of 1 TiB if empty
		lines string
		want  string
	}{
		"load a huge file":         {"", ":load crd f.yaml\n", "a line of more than 16 MiB"},
		"load many documents":      {r(doc, 1200), ":load object f.yaml\n", "more than 64 MiB"},
		"a long string":            {"-", `"""` + "\n" + r(":save! x.yaml\n", 4000) + `"""` + "\n", ":save! x.yaml"},
		"brackets without an end":  {"-", r("[\n", 20_000) + "\n", "error: "},
		"changes of one object":    {"-", r(":set spec.a = "+`"`+r("x", 4000)+`"`+"\n", 250), "T/v1> :set"},
		"rules without end":        {"-", ":cd spec\n" + r(":add self == self\n", 60) + ":diff\n", "self == self"},
		"changes of a large CRD":   {"-", ":load crd crds/large.yaml\n:cd spec\n" + r(":add true\n", 15) + ":undo\n", "undid :add true"},
		"a deep object":            {attackObject[:len(attackObject)-1] + " " + r(`{"a":`, 9000) + "1" + r("}", 9000), ":load object f.yaml\n:show\n:persisted\n:set spec.b = 1\n:old copy\n:old\n", `"a"`},
		"undo and redo of changes": {"-", r(":set spec.a = 1\n:undo\n:redo\n", 300), "redid :set spec.a = 1"},
	}
	small := tree(t, map[string]string{"m/a.yaml": goodCronTab})
	_, _, resting := attackedThrough(t, small, 0, "1\n", "repl", "--no-history", "--crd", "crds", "--object", "m/a.yaml")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{"crds/t.yaml": attackCRD, "o.yaml": attackObject + "  a: 1\n", "f.yaml": c.text, ".git/HEAD": "",
				"crds/large.yaml": attackCRD + "            properties:\n" + numbered("              a%d: {type: string}\n", 20_000)})
			if c.text == "" {
				if err := os.Truncate(filepath.Join(dir, "f.yaml"), 1<<40); err != nil {
					t.Fatal(err)
				}
			}
			known := len(files(t, filepath.Join(dir, "crds")))
			out, code, _ := attackedThrough(t, dir, resting, c.lines+"'the ' + 'end'\n:quit\n:quit\n", "repl", "--no-history", "--echo", "--crd", "crds/t.yaml", "--object", "o.yaml")
			if code != command.OK || !strings.Contains(out, c.want) || !strings.Contains(out, `"the end"`) {
				t.Errorf("exit code %d, want %q in:\n%.1000s …\n%s", code, c.want, out, out[max(0, len(out)-500):])
			}
			if now := len(files(t, filepath.Join(dir, "crds"))); now != known {
				t.Errorf("%d files were written", now-known)
			}
			if _, err := os.Lstat(filepath.Join(dir, "x.yaml")); err == nil {
				t.Error("x.yaml was written")
			}
		})
	}
}
