package conformance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/gomod"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

// integration is the package of the API server's own tests of custom resources.
const integration = "k8s.io/apiextensions-apiserver/test/integration"

// shimmed are the files below the package that its tests need. The server in fixtures is replaced.
var shimmed = []string{"*.go", "fixtures/*.go", "storage/*.go", "conversion/*.go"}

// testdata/upstream/functions.txt has the expected result of each function: "pass", or why it cannot run.
func TestUpstreamFunctions(t *testing.T) {
	if !level.Long() {
		t.Skip("takes minutes to link; CELADON_LEVEL=long runs it")
	}
	dir := gomod.Dir(t, "k8s.io/apiextensions-apiserver")
	binary := buildUpstream(t, dir)
	want := map[string]string{}
	for line := range strings.Lines(readFile(t, "testdata/upstream/functions.txt")) {
		if name, result, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(name, "#") {
			want[name] = result
		}
	}
	counts := map[string]int{}
	for _, name := range upstreamFunctions(t, binary) {
		got := runUpstream(t, binary, filepath.Join(dir, "test/integration"), name)
		counts[got]++
		if got != want[name] && (got == "pass" || want[name] == "pass" || want[name] == "") {
			t.Errorf("%s: %s, want %q", name, got, want[name])
		}
	}
	t.Logf("%s: %v", integration, counts)
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// buildUpstream builds the tests as a package of this module, because files in the module cache cannot be
// replaced.
func buildUpstream(t *testing.T, dir string) (binary string) {
	t.Helper()
	work, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	replace := map[string]string{}
	for _, pattern := range shimmed {
		files, err := filepath.Glob(filepath.Join(dir, "test/integration", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, err := filepath.Rel(filepath.Join(dir, "test/integration"), file)
			if err != nil {
				t.Fatal(err)
			}
			if name == "fixtures/server.go" {
				file = "testdata/upstream/server.go.txt"
			}
			copied := filepath.Join(out, strings.ReplaceAll(name, "/", "_"))
			text := strings.ReplaceAll(readFile(t, file), `"`+integration, `"github.com/celadon-cel/celadon/conformance/upstream`)
			if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			replace[filepath.Join(work, "upstream", name)] = copied
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(out, "upstream.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", filepath.Join(out, "overlay.json"), "-c", "-o", binary, "./upstream")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return binary
}

func upstreamFunctions(t *testing.T, binary string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, "-test.list", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return !strings.HasPrefix(name, "Test") })
}

// cannotRun matches the errors with which the replaced server ends a test that it cannot serve.
var cannotRun = regexp.MustCompile(`NEEDS A SERVER|CHANGES A CRD`)

// runUpstream returns "pass", "fail", or why the function cannot run.
func runUpstream(t *testing.T, binary, dir, name string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "-test.run", "^"+name+"$", "-test.timeout", "10m")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return "pass"
	}
	if why := cannotRun.FindString(string(out)); why != "" {
		return strings.ToLower(why)
	}
	t.Logf("%s:\n%.2000s", name, out)
	return "fail"
}
