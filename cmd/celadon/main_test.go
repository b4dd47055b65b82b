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

	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/forward"
)

var update = flag.Bool("update", false, "rewrite golden output in scripts")

func TestMain(m *testing.M) {
	testscript.Main(withPrograms{m}, map[string]func(){"celadon": main, "celadon-server": serveCalls, "kubectl-celadon": main, "celadon-unlimited": unlimited})
}

// withPrograms builds the small programs of tests in the folder of testscript.Main, which comes first in
// PATH.
type withPrograms struct{ *testing.M }

func (m withPrograms) Run() int {
	dir, _, _ := strings.Cut(os.Getenv("PATH"), string(filepath.ListSeparator))
	for name, path := range map[string]string{"converter": "converter/program", "forward/celadon": "forward/program"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), "./internal/testing/"+path).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", name, err, out)
			return 1
		}
	}
	os.Unsetenv("GOGC") // make ci sets it for tests, but commands must need no more memory than for users
	return m.M.Run()
}

func TestScripts(t *testing.T) {
	socket := startServers(t)
	programs, _, _ := strings.Cut(os.Getenv("PATH"), string(filepath.ListSeparator))
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"exec_code": execCode},
		Setup: func(env *testscript.Env) error {
			root, err := os.Getwd()
			env.Setenv("EXAMPLES", root+"/../../examples")
			env.Setenv("PATH", filepath.Join(programs, "forward")+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv(forward.Variable, socket)
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
