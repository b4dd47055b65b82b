//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

// TestCheckOnTerminal checks that findings fit the terminal and are colored, unless the user has turned
// off colors or the output is a pipe.
func TestCheckOnTerminal(t *testing.T) {
	t.Parallel()
	const crd = "../../../../examples/crontab/crd.yaml"
	for _, columns := range []uint16{60, 100} {
		got := string(onTerminal(t, columns, "", "check", "--crd", crd, "../../../../examples/crontab/objects"))
		if !strings.Contains(got, "\x1b[31mThe CronTab") {
			t.Errorf("no colour:\n%s", got)
		}
		for line := range strings.Lines(got) {
			line = strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "", "\x1b[33m", "", "\x1b[32m", "", "\r", "", "\n", "").Replace(line)
			if width := runewidth.StringWidth(line); width > int(columns) && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%d columns of %d: %s", width, columns, line)
			}
		}
		if plain := string(onTerminal(t, columns, "NO_COLOR=1", "check", "--crd", crd, "../../../../examples/crontab/objects")); strings.Contains(plain, "\x1b") {
			t.Errorf("colour:\n%s", plain)
		}
	}
}
