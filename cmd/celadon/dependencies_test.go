package main

import (
	"os/exec"
	"strings"
	"testing"
)

// needless lists packages that would add much code for little use. Upstream's validation of CRDs
// already brings gRPC and telemetry, because it checks a webhook's URL with a package that can call
// webhooks.
var needless = []string{"k8s.io/apiserver/pkg/registry", "k8s.io/client-go/kubernetes", "k8s.io/client-go/discovery", "go.etcd.io/etcd"}

// TestDependencies checks that the command links no needless package.
func TestDependencies(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		for _, bad := range needless {
			if dep == bad || strings.HasPrefix(dep, bad+"/") {
				t.Errorf("the command brings %s", dep)
			}
		}
	}
}
