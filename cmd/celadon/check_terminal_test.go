//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

func TestCheckOnTerminal(t *testing.T) {
	t.Parallel()
	const crd = "../../../../examples/crontab/crd.yaml"
	for _, columns := range []uint16{40, 60, 80, 120} {
		got := string(onTerminal(t, columns, "", "check", "--crd", crd, "../../../../examples/crontab/objects"))
		if !strings.Contains(got, "\x1b[31mThe CronTab") {
			t.Errorf("no colour:\n%s", got)
		}
		for _, part := range []string{"\x1b[34m-->\x1b[0m \x1b[36m../../../../examples/crontab/objects/bad.yaml:", "\x1b[34mrule: \x1b[0m\x1b[1mself", "self.replicas: \x1b[35m"} {
			if !strings.Contains(got, part) {
				t.Errorf("no %q in\n%s", part, got)
			}
		}
		for line := range strings.Lines(got) {
			line = strings.NewReplacer("\r", "", "\n", "").Replace(painted.ReplaceAllString(line, ""))
			if width := runewidth.StringWidth(line); width > int(columns) && strings.Contains(strings.TrimPrefix(strings.TrimSpace(line), "--> "), " ") {
				t.Errorf("%d columns of %d: %s", width, columns, line)
			}
		}
		if plain := string(onTerminal(t, columns, "NO_COLOR=1", "check", "--crd", crd, "../../../../examples/crontab/objects")); strings.Contains(plain, "\x1b") {
			t.Errorf("colour:\n%s", plain)
		}
	}
}
