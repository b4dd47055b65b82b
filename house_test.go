package celadon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
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
	{"internal/phrase", "internal/preview", "internal/screen", "internal/crdfields", "internal/work", "examples/conversion"},
	{"internal/schemawords", "internal/automaton", "internal/sat", "internal/smtlib", "internal/regex", "internal/panicking", "internal/spell", "internal/yamlpos", "internal/foreign", "internal/foreign/attack", "internal/mutant", "internal/reword", "internal/corpus", "internal/celscan", "internal/yamldoc", "internal/gomarkers", "internal/gomod"},
	{"internal/linediff", "internal/celparse", "internal/celcheck", "internal/celtexts", "internal/gotree"},
	{"types"},
	{"internal/celcost"},
	{"cost"},
	{"engine/eval", "engine/schema", "engine/lex"},
	{"internal/expr", "engine/internal/respond", "engine/internal/structural"},
	{"engine/internal/rule"},
	{"engine"},
	{"engine/catalog", "internal/secret", "internal/valuediff", "internal/crdcopy", "engine/conversion"},
	{"internal/tracing"},
	{"internal/guard"},
	{"engine/vet", "engine/admission", "engine/trace", "engine/prove"},
	{"engine/search"},
	{"engine/publish", "engine/conversion/roundtrip"},
	{"engine/ruletest"},
	{"engine/ruletest/coverage", "engine/ruletest/mutation"},
	{"celadontest"},
	{"engine/compare"},
	{"internal/crdedit", "engine/lint"},
	{"engine/assist", "internal/markervet"},
	{"repl"},
	{"cmd/celadon/internal/worktree"},
	{"cmd/celadon/internal/ordered", "cmd/celadon/internal/garbage", "cmd/celadon/internal/wholefile", "cmd/celadon/internal/report/reporttest", "cmd/celadon/internal/cluster/clustertest"},
	{"cmd/celadon/internal/input", "cmd/celadon/internal/report"},
	{"cmd/celadon/internal/gitbase", "cmd/celadon/internal/intake", "cmd/celadon/internal/cli", "cmd/celadon/internal/progress", "cmd/celadon/internal/fix", "cmd/celadon/internal/watching"},
	{"cmd/celadon/internal/converter", "cmd/celadon/internal/sweep", "cmd/celadon/internal/where", "cmd/celadon/internal/config"},
	{"cmd/celadon/internal/crdfile"},
	{"cmd/celadon/internal/measure", "cmd/celadon/internal/rounds", "cmd/celadon/internal/cluster"},
	{"cmd/celadon/internal/check", "cmd/celadon/internal/webhook", "cmd/celadon/internal/vetting", "cmd/celadon/internal/find", "cmd/celadon/internal/publishing", "cmd/celadon/internal/testrun", "cmd/celadon/internal/convert"},
	{"cmd/celadon/internal/diff", "cmd/celadon/internal/merge", "cmd/celadon/internal/manifests", "cmd/celadon/internal/answer"},
	{"cmd/celadon/internal/lsp/wire", "cmd/celadon/internal/lsp/protocol"},
	{"cmd/celadon/internal/lsp", "cmd/celadon/internal/playground"},
	{"cmd/celadon/internal/shell"},
	{"cmd/celadon"},
}

// light are the packages that users embed, and heavy what these must not bring.
var (
	light = []string{"types", "cost", "engine", "engine/eval", "engine/admission", "engine/schema", "engine/lex", "engine/trace", "engine/catalog", "engine/compare", "engine/search", "celadontest", "engine/conversion", "engine/conversion/roundtrip", "engine/publish", "engine/assist"}
	heavy = []string{"go.etcd.io", "google.golang.org/grpc", "k8s.io/client-go", "k8s.io/apiserver/pkg/server", "k8s.io/apiserver/pkg/registry", "k8s.io/apiextensions-apiserver/pkg/registry"}
)

// linked is how many packages of others engine brings, the standard library's
// included: whoever embeds it compiles them. More of them need a reason.
const linked = 475

// TestLinkedPackages holds what embedding costs.
func TestLinkedPackages(t *testing.T) {
	t.Parallel()
	foreign := 0
	for _, dep := range list(t)["engine"].Deps {
		if !strings.HasPrefix(dep, module) {
			foreign++
		}
	}
	if foreign != linked {
		t.Errorf("engine links %d packages of others: want %d", foreign, linked)
	}
}

// TestToolsStandApart keeps what only checks the code out of the modules that
// users of the library resolve.
func TestToolsStandApart(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("honnef.co")) || bytes.Contains(data, []byte("\ntool ")) {
			t.Errorf("%s has a tool: tools/go.mod is the place", name)
		}
	}
}

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

// TestClusterStandsApart keeps the client of clusters, and all that it brings, in one
// package of the command.
func TestClusterStandsApart(t *testing.T) {
	t.Parallel()
	const client = "k8s.io/client-go/"
	found := false
	for name, p := range list(t) {
		for _, path := range p.Imports {
			switch {
			case !strings.HasPrefix(path, client+"rest") && !strings.HasPrefix(path, client+"tools/") && !strings.HasPrefix(path, client+"dynamic"):
			case name == "cmd/celadon/internal/cluster":
				found = true
			default:
				t.Errorf("%s imports %s: only the command's package cluster may", name, path)
			}
		}
	}
	if !found {
		t.Errorf("nothing imports %s", client)
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
