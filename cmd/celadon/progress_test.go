//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/progress"
	"github.com/celadon-cel/celadon/internal/testing/vt"
)

func screen(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		var shown []rune
		column := 0
		for _, r := range line {
			switch {
			case r == '\r':
				column = 0
				continue
			case column == len(shown):
				shown = append(shown, r)
			default:
				shown[column] = r
			}
			column++
		}
		lines = append(lines, strings.TrimRight(string(shown), " "))
	}
	return strings.Join(lines, "\n")
}

// The test feeds objects until the bar appears. On a terminal that is too narrow for it, the test gives it time to
// appear.
func TestProgressAndReport(t *testing.T) {
	t.Parallel()
	for _, columns := range []uint16{80, 30} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("celadon", "check", "--crd", crontabCRD, "--quiet", "-")
			feed, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			tty, term, err := pty.Open()
			if err != nil {
				t.Skipf("no pseudo-terminal: %v", err)
			}
			defer tty.Close()
			if err := pty.Setsize(term, &pty.Winsize{Rows: 24, Cols: columns}); err != nil {
				t.Fatal(err)
			}
			cmd.Stdout, cmd.Stderr = term, term
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = term.Close()
			c := &console{t: t, tty: tty, cmd: cmd, screen: vt.New(int(columns), 24)}
			copied := make(chan struct{})
			go func() {
				c.copy()
				close(copied)
			}()
			n := 0
			for deadline := time.Now().Add(3 * progress.Patience); time.Now().Before(deadline) || columns > progress.MinWidth && n < 10_000; n++ {
				fmt.Fprintf(feed, crontab, n, "@daily")
				time.Sleep(20 * time.Millisecond)
				c.mu.Lock()
				shown := strings.Contains(c.out.String(), "checking (")
				c.mu.Unlock()
				if shown {
					break
				}
			}
			_ = feed.Close()
			_ = cmd.Wait()
			<-copied
			out := c.out.String()
			if shown := strings.Contains(out, "checking ("); shown != (columns > progress.MinWidth) {
				t.Errorf("a bar is shown: %t", shown)
			}
			lines := strings.Split(strings.TrimSpace(screen(out)), "\n")
			for i, line := range lines {
				if want := regexp.MustCompile(fmt.Sprintf(`^The CronTab "n%d" is invalid: spec.schedule: .*must have five fields$`, i)); !want.MatchString(line) {
					t.Errorf("line %d is %q", i+1, line)
				}
			}
			if len(lines) < n {
				t.Errorf("%d lines of %d objects", len(lines), n)
			}
		})
	}
}
