package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Limits of the command's size, measured on one platform with a stripped binary. Releases also trim
// paths, which would compile all packages again here, so the path of the module cache counts. The
// command grows with each feature. A change of more than a few hundred KiB needs a reason in the
// commit that changes the limit.
const (
	maxCommand  = 44_000_000
	maxPackages = 703 // of other modules and the standard library
)

// TestWeight builds the stripped command as for a release and checks its size. If any package that is
// linked calls methods by a name that is only known at run time, the linker keeps all methods, and the
// command is 8 MB larger. Packages that use templates do that, and so does gRPC without the tag.
func TestWeight(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the number is that of linux/amd64")
	}
	out := filepath.Join(t.TempDir(), "celadon")
	if text, err := exec.CommandContext(t.Context(), "go", "build", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", out, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	info, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d bytes", info.Size()); info.Size() > maxCommand {
		t.Errorf("the command has %d bytes, want no more than %d", info.Size(), maxCommand)
	}
}

// needless lists packages that would add much code for little use. Upstream's validation of CRDs
// already brings gRPC and telemetry, because it checks a webhook's URL with a package that can call
// webhooks.
var needless = []string{"k8s.io/apiserver/pkg/registry", "k8s.io/client-go/kubernetes", "k8s.io/client-go/discovery", "go.etcd.io/etcd"}

// TestPackagesOfCommand checks which packages of other modules the command links. It does not count
// those of Celadon.
func TestPackagesOfCommand(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	foreign := 0
	for _, dep := range deps {
		if !strings.HasPrefix(dep, "github.com/celadon-cel/celadon/") {
			foreign++
		}
		for _, bad := range needless {
			if dep == bad || strings.HasPrefix(dep, bad+"/") {
				t.Errorf("the command brings %s", dep)
			}
		}
	}
	if foreign == 0 || foreign > maxPackages {
		t.Errorf("the command has %d packages of others, want no more than %d", foreign, maxPackages)
	}
}
