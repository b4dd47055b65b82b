//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func TestAttackDeepOutput(t *testing.T) {
	t.Parallel()
	const levels, objects = 9_900, 5
	deep := `{"apiVersion":"g.io/v1","kind":"T","metadata":{"name":"deep"},"spec":` + strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels) + "}\n"
	honest := `{"apiVersion":"g.io/v1","kind":"T","metadata":{"name":"honest"},"spec":{"b":{"c":1}}}` + "\n"
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	crd, all, single := write("crd.yaml", attackCRD), write("all.json", strings.Repeat(deep, objects)+honest), write("one.json", deep)
	for name, tt := range map[string]struct {
		args  []string
		stdin string
		size  int // of the input
		want  string
	}{
		"yaml":      {args: []string{"check", "--crd", crd, "-o", "yaml", all}, size: objects * len(deep), want: "name: honest"},
		"diff":      {args: []string{"check", "--crd", crd, "--diff", all}, size: objects * len(deep), want: "6 valid"},
		"persisted": {args: []string{"check", "--crd", crd, "-o", "json", "--persisted", all}, size: objects * len(deep), want: `"name": "honest"`},
		"convert":   {args: []string{"convert", "--crd", crd, "--to", "v1", all}, size: objects * len(deep), want: "name: honest"},
		"show":      {args: []string{"repl", "--crd", crd, "--object", single}, stdin: ":show\n:persisted\n1 + 1\n", size: len(deep), want: "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			a := &app{stdin: strings.NewReader(tt.stdin), stdout: &out, stderr: &out}
			if code := a.run(t.Context(), tt.args); code != command.OK {
				t.Errorf("exit code %d", code)
			}
			if limit := 12*tt.size + 64<<10; out.Len() > limit {
				t.Errorf("%d bytes of output, want at most %d", out.Len(), limit)
			}
			if !strings.Contains(out.String(), tt.want) {
				t.Errorf("no %q in\n%.2000s", tt.want, out.String())
			}
		})
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.Size() > 1<<20 {
				t.Errorf("%s has %d bytes", file, info.Size())
			}
		}
	})
}
