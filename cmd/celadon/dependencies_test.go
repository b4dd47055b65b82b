package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// needless lists packages that would add much code for little use, by the folder of the program that must not
// link them. Package builtin brings the registries of the API server, but needs none of the code that serves
// or connects them. The playground does without it.
var needless = map[string][]string{
	".":      {"k8s.io/kubernetes/pkg/controlplane", "k8s.io/kubernetes/pkg/registry/core/rest", "k8s.io/kubernetes/cmd"},
	"./wasm": {"k8s.io/kubernetes", "k8s.io/apiserver/pkg/registry", "k8s.io/client-go/kubernetes", "k8s.io/client-go/discovery", "go.etcd.io/etcd"},
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	for program, bads := range needless {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", program)
		if program == "./wasm" {
			list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		}
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, dep := range strings.Fields(string(out)) {
			for _, bad := range bads {
				if dep == bad || strings.HasPrefix(dep, bad+"/") {
					t.Errorf("%s brings %s", program, dep)
				}
			}
		}
	}
}
