package celadon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/celadon-cel/celadon"

// floors lists the top-level folders from the bottom layer up. A package may import packages of its own
// layer and of lower ones.
var floors = []string{"docs", "internal", "types", "cost", "engine", "x", "celadontest", "repl", "cmd", "examples"}

// maxLevels limits the length of a chain of imports within the module.
const maxLevels = 15

// light lists packages that users embed, and heavy lists packages that they must not depend on.
var (
	light = []string{"types", "cost", "engine", "engine/x/eval", "engine/admission", "engine/x/schema", "engine/x/builtin", "internal/cel/lex", "x/trace", "engine/catalog", "engine/policy", "x/analysis", "x/analysis/compare", "x/analysis/policyvet", "x/analysis/search", "celadontest", "engine/conversion", "x/roundtrip", "x/publish", "x/assist"}
	heavy = []string{"go.etcd.io", "google.golang.org/grpc", "k8s.io/client-go", "k8s.io/apiserver/pkg/server", "k8s.io/apiserver/pkg/registry", "k8s.io/apiextensions-apiserver/pkg/registry"}
)

// unlinked lists what engine does without, although upstream's packages for the same tasks need it.
var unlinked = []string{
	"github.com/prometheus", "github.com/spf13", "go.opentelemetry.io", "google.golang.org/grpc", "k8s.io/client-go", "k8s.io/component-base",
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting", "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta",
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation", "k8s.io/apiserver/pkg/cel/environment", "k8s.io/apiserver/pkg/features",
}

// maxLinked limits the external packages, including the standard library, that engine links. Every program
// that embeds it compiles them.
const maxLinked = 420

func TestLinkedPackages(t *testing.T) {
	t.Parallel()
	external := 0
	for _, dep := range list(t)["engine"].Deps {
		if !strings.HasPrefix(dep, module) {
			external++
		}
		for _, bad := range unlinked {
			if dep == bad || strings.HasPrefix(dep, bad+"/") {
				t.Errorf("engine links %s", dep)
			}
		}
		if dep == "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel" || dep == module+"/engine/x/builtin" {
			t.Errorf("engine links %s", dep)
		}
	}
	if external > maxLinked {
		t.Errorf("engine links %d external packages: want at most %d", external, maxLinked)
	}
}

// Tools that only check the code are not in the module that users of the library resolve.
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

type goPackage struct {
	ImportPath    string
	Imports, Deps []string
}

func list(t *testing.T) map[string]goPackage {
	t.Helper()
	packages, err := listOnce()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return packages
}

var listOnce = sync.OnceValues(func() (map[string]goPackage, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...", "./cmd/celadon/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, stderr.String())
	}
	packages := map[string]goPackage{}
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages[strings.TrimPrefix(p.ImportPath, module+"/")] = p
	}
})

// Test support is above all layers, so that only tests import it.
func floorOf(name string) int {
	if strings.HasPrefix(name, "internal/testing/") {
		return len(floors)
	}
	folder, _, _ := strings.Cut(name, "/")
	return slices.Index(floors, folder)
}

func TestImportDirection(t *testing.T) {
	t.Parallel()
	packages := list(t)
	levels := map[string]int{}
	var level func(name string) int
	level = func(name string) int {
		if n := levels[name]; n > 0 {
			return n
		}
		below := 0
		for _, path := range packages[name].Imports {
			if other, ours := strings.CutPrefix(path, module+"/"); ours {
				below = max(below, level(other))
			}
		}
		levels[name] = below + 1
		return below + 1
	}
	for name, p := range packages {
		if p.ImportPath == module {
			continue // this test
		}
		floor := floorOf(name)
		if floor < 0 {
			t.Errorf("%s is on no floor", name)
		}
		for _, path := range p.Imports {
			if other, ours := strings.CutPrefix(path, module+"/"); ours && floorOf(other) > floor {
				t.Errorf("%s imports %s, which is on a higher floor", name, other)
			}
		}
		if n := level(name); n > maxLevels {
			t.Errorf("%s: a chain of %d imports, want at most %d", name, n, maxLevels)
		}
	}
}

// alone is a package of client-go that imports no other package of client-go. It migrates field managers as
// kubectl does before an apply.
const alone = "k8s.io/client-go/util/csaupgrade"

func TestLightPackages(t *testing.T) {
	t.Parallel()
	packages := list(t)
	for _, name := range light {
		p, ok := packages[name]
		if !ok {
			t.Errorf("no package %s", name)
		}
		for _, dep := range p.Deps {
			for _, bad := range heavy {
				if (dep == bad || strings.HasPrefix(dep, bad+"/")) && dep != alone {
					t.Errorf("%s brings %s", name, dep)
				}
			}
		}
	}
}

func TestClusterStandsApart(t *testing.T) {
	t.Parallel()
	const client = "k8s.io/client-go/"
	found := false
	for name, p := range list(t) {
		for _, path := range p.Imports {
			switch {
			case !strings.HasPrefix(path, client+"rest") && !strings.HasPrefix(path, client+"tools/") && !strings.HasPrefix(path, client+"dynamic"):
			case name == "cmd/celadon/internal/input/cluster":
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

// The types of k8s.io/apiserver/pkg/cel change with the path of cel-go.
func TestSeam(t *testing.T) {
	t.Parallel()
	for name, p := range list(t) {
		for _, path := range p.Imports {
			if name != "internal/kubecel" && (path == "k8s.io/apiserver/pkg/cel" || strings.HasPrefix(path, "k8s.io/apiserver/pkg/cel/")) {
				t.Errorf("%s imports %s: use internal/kubecel", name, path)
			}
		}
	}
}

func TestMap(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(cells[2], "`") {
			continue
		}
		rows++
		for i, name := range strings.Split(cells[2], "`") {
			if i%2 == 0 {
				continue // between paths
			}
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: %v", strings.TrimSpace(cells[1]), err)
			}
		}
	}
	if rows < 10 {
		t.Errorf("the map has %d rows, want 10 or more", rows)
	}
}

// TestNamedFiles checks that comments about how a package works name only files that exist.
func TestNamedFiles(t *testing.T) {
	t.Parallel()
	for path := range list(t) {
		dir := os.DirFS(path)
		names, err := fs.Glob(dir, "*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(dir, name)
			if err != nil {
				t.Fatal(err)
			}
			_, how, _ := bytes.Cut(text, []byte("// How it works"))
			how, _, _ = bytes.Cut(how, []byte("\n\n"))
			for _, m := range namedFile.FindAllSubmatch(how, -1) {
				if file := string(m[1]); !slices.Contains(names, file) {
					t.Errorf("%s/%s: the comment names %s, which does not exist", path, name, file)
				}
			}
		}
	}
}

var namedFile = regexp.MustCompile(`[( ]([a-z_]+\.go)\b`)
