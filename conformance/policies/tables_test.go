package policies

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tableFiles lists test files of k8s.io/apiserver, and the packages that run them.
var tableFiles = map[string]string{
	"patch/json_patch_test.go": "patch", "patch/smd_test.go": "patch", "compilation_test.go": "mutating", "dispatcher_test.go": "mutating",
}

func TestUpstreamTables(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles other tests")
	}
	const upstream = "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	list, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", upstream).Output()
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for file, in := range tableFiles {
		at, err := filepath.Abs(filepath.Join("tables", in, filepath.Base(file)))
		if err != nil {
			t.Fatal(err)
		}
		replace[at] = filepath.Join(strings.TrimSpace(string(list)), filepath.FromSlash(file))
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", overlay, "-json", "./tables/...").CombinedOutput()
	results, output := map[string]int{}, map[string]string{}
	for line := range bytes.Lines(out) {
		var event struct{ Action, Test, Output string }
		if json.Unmarshal(line, &event) != nil || !strings.Contains(event.Test, "/") {
			continue
		}
		output[event.Test] += event.Output
		switch event.Action {
		case "pass", "fail", "skip":
			results[event.Action]++
		}
		if event.Action == "fail" {
			t.Errorf("%s", output[event.Test])
		}
	}
	if err != nil || results["pass"] < 60 {
		t.Errorf("%v: %v\n%s", err, results, out[:min(len(out), 3000)])
	}
	t.Logf("cases: %v", results)
}
