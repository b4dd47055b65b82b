package find

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
)

// options parses a command line.
func options(t *testing.T, args ...string) *Options {
	t.Helper()
	var o Options
	f := pflag.NewFlagSet("find", pflag.ContinueOnError)
	o.Flags(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := o.Check(f); err != nil {
		t.Fatal(err)
	}
	return &o
}

// running parses a command line and runs it.
func running(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	var out, stderr bytes.Buffer
	err := Run(t.Context(), cli.Streams{Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &stderr}, options(t, args...))
	var exit *cli.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.Code
	case err != nil:
		t.Fatal(err)
	}
	return out.String(), code
}

const example = "../../../../examples/crontab/crd.yaml"

// TestFindInterruptedTellsWhatIsKnown: what was answered before stays.
func TestFindInterruptedTellsWhatIsKnown(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, "--crd", example)
	crds, problems, err := read(ctx, cli.Streams{}, o)
	if err != nil || len(problems) > 0 || len(crds) != 1 {
		t.Fatal(crds, problems, err)
	}
	sum := &Summary{}
	part, err := ask(ctx, o, crds[0], sum, func() { cancel() }) // at the first answer
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for _, v := range part.Versions {
		known += len(v.Rules)
	}
	if known == 0 || known > 4 || sum.Rules != known {
		t.Errorf("%d rules known, %d counted (want the first answers of 5)", known, sum.Rules)
	}
}

// TestFindOnManyCores: workers share nothing, and the answers are those of one.
func TestFindOnManyCores(t *testing.T) {
	first, code := running(t, "--crd", example, "-o", "json", "--want", "accepted")
	if code != cli.OK {
		t.Fatal(code, first)
	}
	for range 3 {
		if again, _ := running(t, "--crd", example, "-o", "json", "--want", "accepted"); again != first {
			t.Errorf("%s\n%s", first, again)
		}
	}
}
