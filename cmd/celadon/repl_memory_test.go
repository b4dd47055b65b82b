//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/level"
)

// The memory of a shell with many objects is limited to shellMemory, plus objectMemory for each object of
// 1 KiB. For 200,000 objects, that is less than 500 MB.
const (
	shellMemory  = 240 << 20
	objectMemory = 1200
)

func TestShellMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	objects := 20_000
	if level.Long() {
		objects = 200_000
	}
	dump := filepath.Join(t.TempDir(), "dump.json")
	million(t, dump, objects)
	cmd := exec.CommandContext(t.Context(), "celadon", "repl", "--no-history", crontabCRD, dump)
	cmd.Stdin = strings.NewReader(":cd spec\n:add self.replicas < 6\n:edit 2 self.replicas < 5\n:rules 2 --rejected\n:object 7\n:objects\n")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	most, err := runMeasured(t, cmd)
	t.Logf("%d MiB for %d objects, %s of processor time", most>>20, objects, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	want := fmt.Sprintf("rejects %s of %s (", grouped(objects/7*2+max(0, objects%7-5)), grouped(objects))
	if err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("%v, want %q:\n%.3000s", err, want, &out)
	}
	if limit := int64(shellMemory + objects*objectMemory); most == 0 || most > limit {
		t.Errorf("%d MiB: want no more than %d", most>>20, limit>>20)
	}
}

func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
