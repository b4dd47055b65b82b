package find

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

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

func running(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	var out, stderr bytes.Buffer
	err := Run(t.Context(), command.Streams{Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &stderr}, options(t, args...))
	var exit *command.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.Code
	case err != nil:
		t.Fatal(err)
	}
	return out.String(), code
}

const example = "../../../../examples/crontab/crd.yaml"

func TestFindInterruptedTellsWhatIsKnown(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, "--crd", example)
	crds, broken, err := read(ctx, command.Streams{}, o)
	if err != nil || broken || len(crds) != 1 {
		t.Fatal(crds, broken, err)
	}
	var out bytes.Buffer
	sum, err := report(ctx, command.Streams{Stderr: io.Discard}, o, nil, crds, &out, cancel) // interrupts at the first answer
	if err != nil {
		t.Fatal(err)
	}
	if !sum.Interrupted || sum.Rules == 0 || sum.Rules > 4 || !strings.HasSuffix(out.String(), "; interrupted\n") {
		t.Errorf("%+v (want the first answers of 5)\n%s", sum, &out)
	}
}

func TestFindOnManyCores(t *testing.T) {
	first, code := running(t, "--crd", example, "-o", "json", "--want", "accepted")
	if code != command.OK {
		t.Fatal(code, first)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(cores)
		if again, _ := running(t, "--crd", example, "-o", "json", "--want", "accepted"); again != first {
			t.Errorf("%s\n%s", first, again)
		}
	}
}
