package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite golden output in scripts")

func TestMain(m *testing.M) {
	testscript.Main(withConverter{m}, map[string]func(){"celadon": main, "kubectl-celadon": main, "celadon-unlimited": unlimited})
}

// withConverter runs the tests with a converter program next to the programs of testscript.Main, which come
// first in PATH.
type withConverter struct{ *testing.M }

func (m withConverter) Run() int {
	programs, _, _ := strings.Cut(os.Getenv("PATH"), string(filepath.ListSeparator))
	if out, err := exec.Command("go", "build", "-o", programs+"/converter", "./internal/testing/converter/program").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "the converter program: %v\n%s", err, out)
		return 1
	}
	return m.M.Run()
}

// TestScripts runs the scripts in testdata/script and checks the output of their commands.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"exec_code": execCode},
		Setup: func(env *testscript.Env) error {
			root, err := os.Getwd()
			env.Setenv("EXAMPLES", root+"/../../examples")
			return err
		},
	})
}

// execCode is exec with a required exit code: exec_code 2 celadon …
func execCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exec_code CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
