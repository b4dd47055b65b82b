// Package gomod locates the source of Go modules for tests.
package gomod

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"
)

// Dir returns the folder of a module at the version that the go.mod of the working directory
// requires. The go command downloads a module only when it compiles one of its packages, so Dir
// downloads a module that is not in the module cache. If that fails, for example because the
// machine is offline, the test fails: a skipped test would look like a passed test.
func Dir(t testing.TB, module string) string {
	t.Helper()
	var found struct{ Path, Version, Dir string }
	runGo(t, &found, "list", "-m", "-json", module)
	if found.Dir == "" {
		runGo(t, &found, "mod", "download", "-json", found.Path+"@"+found.Version)
	}
	if found.Dir == "" {
		t.Fatalf("module %s %s: the go command reports no folder", found.Path, found.Version)
	}
	return found.Dir
}

func runGo(t testing.TB, v any, args ...string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: the module must be in the module cache, or the machine online\n%s%s", cmd.Args, err, out, stderr.Bytes())
	}
	if err := json.Unmarshal(out, v); err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
}
