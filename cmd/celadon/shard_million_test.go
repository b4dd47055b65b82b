//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/internal/testing/level"
)

const shardMemory = 200 << 20

// Without CELADON_LEVEL=long, it uses fewer objects.
func TestMillionInShards(t *testing.T) {
	objects, shards := 20_000, 2
	if level.Long() {
		objects, shards = 1_000_000, 20
	}
	dir := t.TempDir()
	dump := filepath.Join(dir, "dump.json")
	million(t, dump, objects)
	reports := filepath.Join(dir, "reports")
	if err := os.Mkdir(reports, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range shards {
		most, processor := used(t, "check", "--no-config", "--crd", crontabCRD, "--old", dump, "--shard", fmt.Sprintf("%d/%d", i, shards),
			"--findings-exit-code", "0", "-o", "jsonl", "--out", filepath.Join(reports, fmt.Sprintf("%d.jsonl", i)), dump)
		t.Logf("shard %d: %d MiB, %s", i, most>>20, processor)
		if most > shardMemory {
			t.Errorf("shard %d: %d MiB: want no more than %d", i, most>>20, shardMemory>>20)
		}
	}
	merged := filepath.Join(dir, "merged.txt")
	most, processor := used(t, "merge", "--findings-exit-code", "0", "--out", merged, reports)
	t.Logf("merge: %d MiB, %s", most>>20, processor)
	text, err := os.ReadFile(merged)
	if want := fmt.Sprintf("%d objects checked: ", objects); err != nil || most > shardMemory || !strings.Contains(string(text[max(0, len(text)-1000):]), want) {
		t.Errorf("%v, %d MiB, want %q", err, most>>20, want)
	}
}

func million(t *testing.T, name string, objects int) {
	t.Helper()
	var env []string
	for name := 'A'; name <= 'J'; name++ {
		env = append(env, fmt.Sprintf(`{"name":"%c","value":%q}`, name, strings.Repeat("x", 60)))
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for i := range objects {
		schedule := "0 3 * * *"
		if i%100 == 0 {
			schedule = "@daily"
		}
		fmt.Fprintf(w, `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"n%06d","namespace":"ns%03d"},"spec":{"schedule":%q,"image":"a:1","replicas":%d,"env":[%s]}}`+"\n",
			i, i%200, schedule, i%7, strings.Join(env, ","))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

func used(t *testing.T, args ...string) (peak int64, processor time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "celadon", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	most, err := runMeasured(t, cmd)
	if err != nil || most == 0 {
		t.Fatalf("%v: %v\n%.2000s", args, err, &out)
	}
	return most, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
