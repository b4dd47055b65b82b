package window

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/level"
)

// program is the first program in docs/embedding.md. The README has a part of it.
const program = `
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/celadon-cel/celadon/engine"
)

func main() {
	if err := validate(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func validate(ctx context.Context, crdFile, objectFile string) error {
	crd, err := os.ReadFile(crdFile)
	if err != nil {
		return err
	}
	object, err := os.ReadFile(objectFile)
	if err != nil {
		return err
	}
	e, err := engine.CompileCRD(crd, engine.Config{})
	if err != nil {
		return err
	}
	res, err := e.ValidateYAML(ctx, object, nil) // for an update, the old object instead of nil
	if err != nil {
		return err
	}
	if !res.Allowed {
		fmt.Println(res.Failure.Message)
	}
	return nil
}
`

// pinned makes client-go a dependency of the program's module.
const pinned = `package main

import _ "k8s.io/client-go/util/jsonpath"
`

const crontab = `{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": "nightly"},
 "spec": {"cronSpec": "@daily", "image": "i", "replicas": 9, "minReplicas": 1, "maxReplicas": 3}}`

// The modules use different releases of the k8s.io libraries, which the library must not upgrade. The go
// command downloads the releases.
func TestEmbedders(t *testing.T) {
	if !level.Long() {
		t.Skip("CELADON_LEVEL=long runs it")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range []string{"v0.34.0", "v0.35.0", "v0.36.0", "v0.37.2"} {
		t.Run(release, func(t *testing.T) {
			dir := t.TempDir()
			goMod := "module example.com/embedder\n\ngo 1.26.0\n\nrequire github.com/celadon-cel/celadon v0.0.0\n\nreplace github.com/celadon-cel/celadon => " + root + "\n\nrequire (\n"
			modules := []string{"k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/client-go"}
			for _, m := range modules {
				goMod += fmt.Sprintf("\t%s %s\n", m, release)
			}
			files := map[string]string{"go.mod": goMod + "\tsigs.k8s.io/yaml v1.6.0\n)\n", "main.go": program, "pinned.go": pinned, "object.json": crontab}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			run(t, dir, "get", ".")
			for _, m := range append(modules, "k8s.io/apiserver") {
				if got := run(t, dir, "list", "-m", "-f", "{{.Version}}", m); got != release {
					t.Errorf("%s is %s, want %s as before", m, got, release)
				}
			}
			got := run(t, dir, "run", ".", filepath.Join(root, "examples/crontab/crd.yaml"), "object.json")
			if !strings.Contains(got, `CronTab.stable.example.com "nightly" is invalid`) {
				t.Errorf("got %s", got)
			}
		})
	}
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}
