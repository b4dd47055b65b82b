package remote

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// command is the celadon that TestMain builds. If hostile is set in the environment, the test
// binary itself plays a malfunctioning celadon.
var command string

const hostile = "CELADON_REMOTE_HOSTILE"

func TestMain(m *testing.M) {
	if how := os.Getenv(hostile); how != "" {
		play(how)
		return
	}
	dir, err := os.MkdirTemp("", "celadon-remote")
	if err == nil {
		command = filepath.Join(dir, "celadon")
		build := exec.Command("go", "build", "-o", command, "./cmd/celadon")
		build.Dir, build.Stderr = "../..", os.Stderr
		err = build.Run()
	}
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// play simulates a malfunctioning celadon.
func play(how string) {
	switch how {
	case "silent":
		time.Sleep(time.Hour)
	case "wrapped":
		_, _ = io.Copy(io.Discard, os.Stdin) // it runs until its pipes are closed
	case "endless":
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
				return
			}
		}
	case "garbage":
		fmt.Println("garbage")
		time.Sleep(time.Hour)
	case "dies":
		fmt.Fprintln(os.Stderr, strings.Repeat("no CRD ", 1<<20))
		os.Exit(2)
	case "stays":
		fmt.Println(`{"verdict":"valid"}`)
		time.Sleep(time.Hour)
	}
}

const (
	crd   = "../../examples/crontab/crd.yaml"
	good  = `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a"},"spec":{"schedule":"0 3 * * *","image":"a"}}`
	other = `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a"},"spec":{"schedule":"0 3 * * *","image":"b"}}`
	bad   = `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a"},"spec":{"schedule":"now","image":"b","replicas":20}}`
)

type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// run runs do, which may end the test.
func (r *recorder) run(do func(testing.TB)) {
	defer func() {
		if ended := recover(); ended != nil && ended != any(r) {
			panic(ended)
		}
	}()
	do(r)
}

func TestWrites(t *testing.T) {
	t.Parallel()
	crds := Config{Command: command}.Start(t, crd)
	spec := crds.Accepts(t, good)["spec"].(map[string]any)
	if spec["replicas"] != 1.0 {
		t.Errorf("got %v", spec)
	}
	crds.Accepts(t, map[string]any{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": map[string]any{"name": "a", "annotations": map[string]any{"a": "b\nc"}},
		"spec": map[string]any{"schedule": "0 3 * * *", "image": "a"}})
	crds.Rejects(t, bad)
	crds.Rejects(t, bad, Cause{Field: "spec.schedule", Message: "five fields"}, Cause{Field: "spec.replicas", Reason: "FieldValueInvalid"})
	crds.Update(good).Rejects(t, other, Cause{Message: "is immutable"})
	crds.Update(good).Accepts(t, good)
	crds.Status(good).Rejects(t, `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a"},"status":{"phase":"x"}}`, Cause{Field: "status.phase"})
}

func TestMismatch(t *testing.T) {
	t.Parallel()
	crds := Config{Command: command}.Start(t, crd)
	for name, c := range map[string]struct {
		run  func(testing.TB)
		want string
	}{
		"refused": {func(t testing.TB) { crds.Accepts(t, bad) }, "celadon: the object was rejected, want accepted\n  spec.replicas: Invalid value: replicas is 20, more than maxReplicas: 10\n" +
			"    rule: self.replicas <= self.maxReplicas\n      self.replicas: 20\n      self.maxReplicas: 10\n  spec.schedule: Invalid value: \"now\": must have five fields"},
		"accepted":  {func(t testing.TB) { crds.Rejects(t, good, Cause{Field: "spec.x", Message: "m"}, Cause{}) }, "celadon: the object was accepted, want rejected\n  for: spec.x: m\n  for: any cause"},
		"not there": {func(t testing.TB) { Config{Command: "no-such-celadon"}.Start(t, crd) }, `celadon: exec: "no-such-celadon": executable file not found in $PATH: install the command in PATH or set Config.Command`},
		"another": {func(t testing.TB) { crds.Rejects(t, bad, Cause{Field: "spec.schedule"}, Cause{Field: "spec.x"}) },
			"celadon: the object was rejected\n  not for: spec.x\n  and also for: spec.replicas: Invalid value"},
		"no kind":  {func(t testing.TB) { crds.Accepts(t, struct{}{}) }, "celadon: an object (struct {}) without apiVersion and kind: set them"},
		"no JSON":  {func(t testing.TB) { crds.Accepts(t, "a: 1") }, "celadon: not a JSON object: "},
		"no CRD":   {func(t testing.TB) { crds.Rejects(t, `{"apiVersion":"v1","kind":"Pod"}`) }, "celadon: skipped: no usable CRD given for Pod"},
		"old":      {func(t testing.TB) { crds.Update("").Rejects(t, good) }, "celadon: old object: not a JSON object: "},
		"function": {func(t testing.TB) { crds.Accepts(t, func() {}) }, "celadon: json: unsupported type"},
	} {
		r := &recorder{TB: t}
		r.run(c.run)
		if got := strings.Join(r.failures, "\n"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestParallel checks that requests of parallel tests are serialized.
func TestParallel(t *testing.T) {
	t.Parallel()
	crds := Config{Command: command}.Start(t, crd)
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < 20; j++ {
				crds.Accepts(t, good)
				crds.Rejects(t, bad)
			}
		}()
	}
	group.Wait()
}

// TestHostile checks that a malfunctioning process fails the test without blocking it.
func TestHostile(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for how, want := range map[string]string{
		"silent":  "no response within 100ms",
		"wrapped": "no response within 100ms",
		"endless": "a response of more than 64 MiB",
		"garbage": "invalid character",
		"dies":    "no CRD",
		"stays":   "",
	} {
		cmd := exec.Command(self)
		timeout := 5 * time.Minute
		switch how {
		case "wrapped": // started by a script, so a silent child keeps the pipes open
			cmd = exec.Command("sh", "-c", `"$0"; true`, self)
			timeout = 100 * time.Millisecond
		case "silent":
			timeout = 100 * time.Millisecond
		}
		cmd.Env = append(os.Environ(), hostile+"="+how)
		p, err := start(cmd, timeout)
		if err != nil {
			t.Fatal(err)
		}
		crds, r := &CRDs{p}, &recorder{TB: t}
		for i := 0; i < 2 && want != ""; i++ {
			crds.Rejects(r, good)
		}
		got := strings.Join(r.failures, "\n")
		if want != "" && (len(r.failures) != 2 || !strings.Contains(got, want)) || len(got) > 4*maxStderr {
			t.Errorf("%s: got %.500s, want %q", how, got, want)
		}
		if how == "stays" {
			_ = cmd.Process.Kill() // ten seconds are too long for a test
		}
		p.end()
		if cmd.ProcessState == nil {
			t.Errorf("%s: it is still there", how)
		}
	}
}

// TestCRDsUnreadable checks that celadon's error message is reported.
func TestCRDsUnreadable(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	Config{Command: command}.Start(t, "nowhere").Accepts(r, good)
	if got := strings.Join(r.failures, "\n"); !strings.Contains(got, "nowhere") {
		t.Errorf("got %s", got)
	}
}

func Example() {
	t := printer{}
	crds := Config{Command: command}.Start(t, crd)
	crds.Accepts(t, good)
	crds.Rejects(t, bad, Cause{Field: "spec.schedule", Message: "must have five fields"})
	// Output:
	// celadon: the object was rejected
	//   and also for: spec.replicas: Invalid value: replicas is 20, more than maxReplicas: 10
	//   spec.replicas: Invalid value: replicas is 20, more than maxReplicas: 10
	//     rule: self.replicas <= self.maxReplicas
	//       self.replicas: 20
	//       self.maxReplicas: 10
	//   spec.schedule: Invalid value: "now": must have five fields
	//     rule: self.split(' ').size() == 5
	//       self.split(' ').size(): 1
	//       self: "now"
}

// printer prints failures instead of a test.
type printer struct{ testing.TB }

func (printer) Helper()                           {}
func (printer) Cleanup(func())                    {}
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
