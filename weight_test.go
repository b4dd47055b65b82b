package celadon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What the command may weigh. It is weighed on one platform, stripped as releases are,
// and grows with each feature: more than some hundred KiB needs a reason, which a
// commit gives that changes the number.
const (
	maxCommand  = 38_000_000
	maxPackages = 660 // of all, as go list -deps has them
)

// TestWeight builds the stripped command.
func TestWeight(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the number is that of linux/amd64")
	}
	out := filepath.Join(t.TempDir(), "celadon")
	if text, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", out, "./cmd/celadon").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	info, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d bytes", info.Size()); info.Size() > maxCommand {
		t.Errorf("the command has %d bytes, want no more than %d: does anything call methods by name, as text/template does? See go build -ldflags=-dumpdep and <ReflectMethod>", info.Size(), maxCommand)
	}
}

// needless are packages that the command did without once they were found to bring much
// for little: gRPC and telemetry for the looks of a URL, templates for a page. (What
// brings text/template, and cannot be left out, does not use it here.)
var needless = []string{"google.golang.org/grpc", "go.opentelemetry.io/otel/exporters", "k8s.io/apiserver/pkg/server", "k8s.io/client-go/kubernetes", "k8s.io/client-go/discovery", "html/template", "golang.org/x/net/trace"}

// TestPackagesOfCommand holds what is linked.
func TestPackagesOfCommand(t *testing.T) {
	t.Parallel()
	packages := list(t)
	deps := packages["cmd/celadon"].Deps
	if len(deps) == 0 || len(deps) > maxPackages {
		t.Errorf("the command has %d packages, want no more than %d", len(deps), maxPackages)
	}
	for _, dep := range deps {
		for _, bad := range needless {
			if dep == bad || strings.HasPrefix(dep, bad+"/") {
				t.Errorf("the command brings %s", dep)
			}
		}
	}
	for name, p := range packages {
		if strings.HasPrefix(name, "cmd/") || name == "celadon_test" {
			for _, path := range p.Imports {
				if path == "text/template" {
					t.Errorf("%s imports %s, which makes the linker keep all methods of all types", name, path)
				}
			}
		}
	}
}
