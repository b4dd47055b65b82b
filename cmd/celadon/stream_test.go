package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

const (
	crontabCRD = "../../examples/crontab/crd.yaml"
	crontab    = `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"n%d"},"spec":{"schedule":%q,"image":"a"}}` + "\n"
)

type watchedBuffer struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	text string
	seen chan struct{}
}

func (w *watchedBuffer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := strings.Contains(w.buf.String(), w.text)
	n, err := w.buf.Write(p)
	if !before && strings.Contains(w.buf.String(), w.text) {
		close(w.seen)
	}
	return n, err
}

func (w *watchedBuffer) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// Annotations (-o github) are not among the formats, because they are held until the end.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for format, want := range map[string][]string{
		"text":  {`The CronTab "n0" is invalid`, "2 objects checked: 1 valid, 1 invalid; interrupted\n"},
		"jsonl": {`"name":"n0"`, `"name":"n1"`, `"interrupted":true`},
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			in, feed := io.Pipe()
			defer feed.Close()
			out := &watchedBuffer{text: "n0", seen: make(chan struct{})}
			var stderr bytes.Buffer
			a := &app{stdin: in, stdout: out, stderr: &stderr}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() {
				fmt.Fprintf(feed, crontab+crontab, 0, "@daily", 1, "0 3 * * *")
				<-out.seen // arrives while the input is open
				cancel()
			}()
			code := a.run(ctx, []string{"check", "--crd", crontabCRD, "-o", format, "-"})
			if code != command.Interrupted || !strings.Contains(stderr.String(), "interrupted: the report covers only the objects before") {
				t.Errorf("exit code %d, stderr %q", code, stderr.String())
			}
			for _, text := range want {
				if !strings.Contains(out.String(), text) {
					t.Errorf("output lacks %q:\n%s", text, out)
				}
			}
		})
	}
}

func TestInterruptedEarly(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "jsonl", "junit", "sarif", "github"} {
		for _, args := range [][]string{{"--crd", "-"}, {"--crd", crontabCRD, "--old", "-"}} {
			interruptedEarly(t, append([]string{"check", "-o", format, "../../examples"}, args...), "interrupted", "interrupted")
		}
	}
	for _, args := range [][]string{{"eval", "--crd", "-", "true"}, {"repl", "--crd", crontabCRD, "--object", "-"}, {"vet", "--old", "-", crontabCRD}} {
		interruptedEarly(t, args, "", "celadon: interrupted\n")
	}
}

func interruptedEarly(t *testing.T, args []string, wantOut, wantErr string) {
	t.Helper()
	in, feed := io.Pipe()
	defer feed.Close()
	var stdout, stderr bytes.Buffer
	a := &app{stdin: in, stdout: &stdout, stderr: &stderr}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		fmt.Fprint(feed, "# a comment is read, and no more comes\n")
		cancel()
	}()
	if code := a.run(ctx, args); code != command.Interrupted || !strings.Contains(stdout.String(), wantOut) || !strings.Contains(stderr.String(), wantErr) {
		t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, code, stdout.String(), stderr.String())
	}
}

type full struct{ n int }

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.n {
		return 0, fmt.Errorf("no space left on device")
	}
	f.n -= len(p)
	return len(p), nil
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "jsonl", "junit", "sarif", "github"} {
		for _, room := range []int{0, 100} {
			var stderr bytes.Buffer
			a := &app{stdin: strings.NewReader(fmt.Sprintf(crontab, 0, "@daily")), stdout: &full{room}, stderr: &stderr}
			code := a.run(context.Background(), []string{"check", "--crd", crontabCRD, "-o", format, "-"})
			if want := "celadon: cannot write the report: no space left on device\n"; code != command.Usage || stderr.String() != want {
				t.Errorf("%s: exit code %d, stderr %q, want %q", format, code, stderr.String(), want)
			}
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	const objects = 2000
	var in strings.Builder
	for i := range objects {
		schedule := "0 3 * * *"
		if i%7 == 0 {
			schedule = "@daily"
		}
		fmt.Fprintf(&in, crontab, i, schedule)
	}
	var out, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(in.String()), stdout: &out, stderr: &stderr}
	a.run(context.Background(), []string{"check", "--crd", crontabCRD, "-o", "jsonl", "-"})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != objects+1 {
		t.Fatalf("%d lines, want %d: %s", len(lines), objects+1, stderr.String())
	}
	for i, line := range lines[:objects] {
		if !strings.Contains(line, fmt.Sprintf(`"name":"n%d"`, i)) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, schedule string) {
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, crontab, 0, schedule), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.json", "@daily")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	first := &watchedBuffer{text: "1 invalid", seen: make(chan struct{})}
	second := &watchedBuffer{text: "2 valid", seen: make(chan struct{})}
	var stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: io.MultiWriter(first, second), stderr: &stderr}
	done := make(chan int)
	go func() { done <- a.run(ctx, []string{"check", "--crd", crontabCRD, "--watch", dir}) }()
	<-first.seen
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("a.json", "0 3 * * *")
	write("sub/b.json", "0 3 * * *")
	<-second.seen
	cancel()
	if code := <-done; code != command.Interrupted {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}
