//go:build linux

package cputime

import (
	"os/exec"
	"testing"
	"time"
)

func TestWaiting(t *testing.T) {
	t.Parallel()
	const pause = 300 * time.Millisecond
	if used := Call(func() { time.Sleep(pause) }); used >= pause/2 {
		t.Errorf("a pause used %s", used)
	}
	begun := Process()
	used := Call(func() {
		for Process() < begun+pause {
		}
	})
	if total := Process() - begun; used <= 0 || used > total {
		t.Errorf("work used %s of %s", used, total)
	}
	cmd := exec.Command("sleep", "0.3")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if used := Exited(cmd.ProcessState); used >= pause/2 {
		t.Errorf("a sleeping process used %s", used)
	}
}
