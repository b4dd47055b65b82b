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
	maxCommand  = 47_500_000
	maxPackages = 800 // of all, as go list -deps has them
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
		t.Errorf("the command has %d bytes, want no more than %d", info.Size(), maxCommand)
	}
}

// needless are packages that would bring much for little. (gRPC, telemetry and
// html/template come by upstream's validation of CRDs, which looks at a webhook's URL
// with a package that can call webhooks: about 9 MB.)
var needless = []string{"k8s.io/apiserver/pkg/registry", "k8s.io/client-go/kubernetes", "k8s.io/client-go/discovery", "go.etcd.io/etcd"}

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
}
