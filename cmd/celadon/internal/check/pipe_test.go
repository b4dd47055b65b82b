package check

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

func pipeOptions() *Options {
	var o Options
	o.Flags(pflag.NewFlagSet("check", pflag.ContinueOnError))
	o.CRDs, o.Pipe = []string{"../../../../examples/crontab/crd.yaml"}, true
	return &o
}

// talk runs check --pipe with the requests in in.
func talk(t testing.TB, ctx context.Context, in io.Reader, out io.Writer) error {
	t.Helper()
	var stderr bytes.Buffer
	return Run(ctx, command.Streams{Stdin: in, Stdout: out, Stderr: &stderr}, pipeOptions(), nil)
}

// TestPipeAnswersAtOnce checks that each response is written before the next request is sent.
func TestPipeAnswersAtOnce(t *testing.T) {
	t.Parallel()
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- talk(t, t.Context(), requests, answers)
		answers.Close()
	}()
	lines := bufio.NewScanner(out)
	for range 3 {
		if _, err := io.WriteString(in, `{"object":{"apiVersion":"v1","kind":"Pod"}}`+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !strings.Contains(lines.Text(), `"verdict":"skipped"`) {
			t.Fatalf("got %q, %v", lines.Text(), lines.Err())
		}
	}
	in.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestPipeRejectsFlags checks that a flag without a meaning for --pipe is reported.
func TestPipeRejectsFlags(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"--old a", "--base a", "--crd-old a", "--no-vet", "--strict-kinds", "--output json", "--output json --persisted",
		"--diff", "--field-selector a=b", "--now a", "--quiet", "--verbose", "--max-findings 1", "--summary", "--watch",
	} {
		var o Options
		flags := pflag.NewFlagSet("check", pflag.ContinueOnError)
		o.Flags(flags)
		if err := flags.Parse(append(strings.Fields(args), "--crd", "a", "--pipe")); err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(args, " ")
		if err := o.Check(nil); err == nil || !strings.HasPrefix(err.Error(), "--pipe: ") || !strings.HasSuffix(err.Error(), ": do not set "+name) {
			t.Errorf("%s: got %v", args, err)
		}
	}
}

// TestPipeInterrupted checks that canceling the context ends the run although standard input is
// still open.
func TestPipeInterrupted(t *testing.T) {
	t.Parallel()
	requests, in := io.Pipe()
	defer in.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- talk(t, ctx, requests, io.Discard) }()
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(5 * time.Minute):
		t.Error("it goes on")
	}
}

// TestPipeBounds checks that a long request takes little memory and that the next request is
// answered, even without a line break at its end.
func TestPipeBounds(t *testing.T) {
	t.Parallel()
	long := io.LimitReader(endless{}, 10*maxRequest)
	pod := `{"object":{"apiVersion":"v1","kind":"Pod"}}`
	var out bytes.Buffer
	err := talk(t, t.Context(), io.MultiReader(long, strings.NewReader("\n"+pod+"\n"+strings.Repeat("[", 100_000)+"\n"+pod)), &out)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{"the request is too large (want at most 8 MiB)", "no usable CRD given for Pod", "not a request: ", "no usable CRD given for Pod"}
	if len(got) != len(want) {
		t.Fatalf("%d answers: %.500s", len(got), out.String())
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) || len(got[i]) > 1000 {
			t.Errorf("answer %d: got %.500s, want %q", i, got[i], want[i])
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// FuzzPipe checks that there are as many responses as requests, and that each is valid JSON.
func FuzzPipe(f *testing.F) {
	f.Add([]byte(`{"object":{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a"},"spec":{"schedule":"now"}}}` + "\n"))
	f.Add([]byte("{\"object\":{\"kind\":1}}\n\n\x00\n[[[[\n"))
	f.Add([]byte(`{"object":{"apiVersion":"stable.example.com/v1","kind":"CronTab"},"old":{"spec":[]},"subresource":"status"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if err := talk(t, t.Context(), bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		want := bytes.Count(in, []byte("\n"))
		if len(in) > 0 && in[len(in)-1] != '\n' {
			want++
		}
		got := strings.SplitAfter(out.String(), "\n")
		for _, line := range got[:len(got)-1] {
			if !json.Valid([]byte(line)) {
				t.Errorf("answer %q", line)
			}
		}
		if len(got)-1 != want {
			t.Errorf("%d answers to %d lines", len(got)-1, want)
		}
	})
}
