//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	display "github.com/celadon-cel/celadon/internal/text/termwidth"
)

const wrongSuite = `apiVersion: celadon/v1
kind: RuleTest
name: crontab
crd: crd.yaml
tests:
- name: too many replicas are accepted, which is wrong, so that the case fails with the rule and its values
  object:
    apiVersion: stable.example.com/v1
    kind: CronTab
    metadata: {name: a}
    spec: {schedule: "0 5 * * *", image: a, replicas: 11, maxReplicas: 10}
  expect: valid
`

func TestReportsOnTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	crd, err := os.ReadFile("../../examples/crontab/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	next := strings.NewReplacer("self.replicas <= self.maxReplicas", "self.replicas < self.maxReplicas", "!has(self.suspended)", "has(self.suspended)").Replace(string(crd))
	for name, text := range map[string]string{"crd.yaml": string(crd), "next.yaml": next, "suite.yaml": wrongSuite} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, tt := range []struct {
		code int
		args []string
		want []string // colored parts
	}{
		{1, []string{"test", path("suite.yaml")}, []string{"\x1b[31mFAIL\x1b[0m", "\x1b[34m-->\x1b[0m \x1b[36m", "\x1b[34mrule: \x1b[0m\x1b[1m", "self.replicas: \x1b[35m11\x1b[0m"}},
		{1, []string{"diff", path("crd.yaml"), path("next.yaml")}, []string{"\x1b[31m- ", "\x1b[32m+ ", "\x1b[34m-->\x1b[0m \x1b[36m"}},
		{0, []string{"find", "--crd", path("crd.yaml")}, []string{"\x1b[1mself."}},
	} {
		for _, columns := range []uint16{40, 60, 80, 120} {
			got := string(onTerminalEndingWith(t, tt.code, columns, "", tt.args...))
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s: no %q in\n%s", tt.args[0], want, got)
				}
			}
			for line := range strings.Lines(got) {
				line = strings.TrimRight(painted.ReplaceAllString(line, ""), "\r\n")
				isYAML := strings.Contains(line, ": ") && strings.HasPrefix(line, "    ")
				if n := display.Width(line); n > int(columns) && strings.Contains(strings.TrimPrefix(strings.TrimSpace(line), "--> "), " ") && !isYAML {
					t.Errorf("%s: %d columns of %d: %s", tt.args[0], n, columns, line)
				}
			}
		}
		if plain := string(onTerminalEndingWith(t, tt.code, 80, "NO_COLOR=1", tt.args...)); strings.Contains(plain, "\x1b") {
			t.Errorf("%s: colors with NO_COLOR:\n%s", tt.args[0], plain)
		}
	}
}
