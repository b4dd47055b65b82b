package celadon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/celadon-cel/celadon"

// storeys are the packages of the house, from the ground: each may import what
// stands before it, and nothing else of the house. Packages on one line do not
// know each other.
var storeys = [][]string{
	{"internal/automaton", "internal/regex", "internal/foreign", "internal/foreign/attack", "internal/mutant", "internal/corpus"},
	{"types"},
	{"cost"},
	{"engine/eval", "engine/schema", "engine/lex"},
	{"engine"},
	{"engine/vet", "engine/admission", "engine/trace"},
	{"engine/search"},
	{"repl"},
	{"cmd/celadon/internal/ordered", "cmd/celadon/internal/yamldoc"},
	{"cmd/celadon/internal/input", "cmd/celadon/internal/report"},
	{"cmd/celadon/internal/gitbase", "cmd/celadon/internal/intake", "cmd/celadon/internal/find"},
	{"cmd/celadon"},
}

// light are the packages that users embed, and heavy what these must not bring.
var (
	light = []string{"types", "cost", "engine", "engine/eval", "engine/admission", "engine/search"}
	heavy = []string{"go.etcd.io", "google.golang.org/grpc", "k8s.io/client-go", "k8s.io/apiserver/pkg/server", "k8s.io/apiserver/pkg/registry", "k8s.io/apiextensions-apiserver/pkg/registry"}
)

// goPackage is what go list tells of a package.
type goPackage struct {
	ImportPath    string
	Imports, Deps []string
}

func list(t *testing.T) map[string]goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	packages := map[string]goPackage{}
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[strings.TrimPrefix(p.ImportPath, module+"/")] = p
	}
}

func storey(name string) int {
	return slices.IndexFunc(storeys, func(names []string) bool { return slices.Contains(names, name) })
}

// TestImportDirection holds the house against design: imports run one way.
func TestImportDirection(t *testing.T) {
	t.Parallel()
	for name, p := range list(t) {
		if p.ImportPath == module {
			continue // this test
		}
		from := storey(name)
		if from < 0 {
			t.Errorf("%s stands on no storey: add it to the table", name)
			continue
		}
		for _, path := range p.Imports {
			other, ours := strings.CutPrefix(path, module+"/")
			if ours && storey(other) >= from {
				t.Errorf("%s imports %s, which stands no lower", name, other)
			}
		}
	}
}

// TestLightPackages keeps what users embed free of servers and clients.
func TestLightPackages(t *testing.T) {
	t.Parallel()
	packages := list(t)
	for _, name := range light {
		p, ok := packages[name]
		if !ok {
			continue // not built yet
		}
		for _, dep := range p.Deps {
			for _, bad := range heavy {
				if dep == bad || strings.HasPrefix(dep, bad+"/") {
					t.Errorf("%s brings %s", name, dep)
				}
			}
		}
	}
}

// TestNames forbids packages that say nothing.
func TestNames(t *testing.T) {
	t.Parallel()
	for name := range list(t) {
		for _, part := range strings.Split(strings.TrimPrefix(name, module), "/") {
			if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "pkg"}, part) {
				t.Errorf("%s: a package named %s", name, part)
			}
		}
	}
}
