package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// toolsVersion is the version of controller-tools that go.mod requires; TestToolsVersion compares
// the two.
const toolsVersion = "v0.23.0"

// generatedCRDs holds generated CRDs as YAML, sorted by name, and the problems that prevented others from
// being generated.
type generatedCRDs struct {
	crds     [][]byte
	problems []string
}

// generate generates CRDs from the packages that patterns match in dir. If dir is "", it uses the
// working directory. If a package has errors, generate returns only problems and no CRDs.
func generate(ctx context.Context, dir string, patterns []string) (*generatedCRDs, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, fmt.Errorf("no go command: %w", err)
	}
	roots, err := loader.LoadRootsWithConfig(&packages.Config{
		Context: ctx, Dir: dir, Env: environment(os.Environ()), BuildFlags: []string{"-mod=readonly", "-buildvcs=false"},
	}, patterns...)
	if err != nil {
		return nil, err
	}
	m := &generatedCRDs{problems: problems(roots)}
	if len(m.problems) > 0 {
		return m, nil // a package with errors would produce incomplete CRDs
	}
	registry := &markers.Registry{}
	yes := true
	generator := crd.Generator{AllowDangerousTypes: &yes, OmitToolVersion: &yes}
	if err := generator.RegisterMarkers(registry); err != nil {
		return nil, err
	}
	checker := &loader.TypeChecker{NodeFilters: []loader.NodeFilter{generator.CheckFilter()}}
	for _, root := range roots {
		checker.Check(root)
	}
	if err := checkSize(roots); err != nil {
		return nil, err
	}
	out := memory{}
	err = generator.Generate(&genall.GenerationContext{
		Collector: &markers.Collector{Registry: registry}, Roots: roots, Checker: checker,
		OutputRule: out,
	})
	if err != nil {
		m.problems = append(m.problems, err.Error())
	}
	m.problems = append(m.problems, problems(roots)...)
	for _, name := range slices.Sorted(maps.Keys(out)) {
		m.crds = append(m.crds, out[name].Bytes())
	}
	return m, nil
}

// kept lists the environment variables that locate the user's go command and its caches.
var kept = []string{"PATH", "HOME", "GOROOT", "GOPATH", "GOMODCACHE", "GOCACHE", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "LocalAppData", "USERPROFILE", "SYSTEMROOT"}

// environment returns an environment for a go command that neither uses the network nor runs other
// programs: it disables toolchain downloads, package drivers, the C compiler, and GOFLAGS.
func environment(user []string) []string {
	env := slices.DeleteFunc(slices.Clone(user), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(kept, name)
	})
	return append(env, "GOTOOLCHAIN=local", "GOPROXY=off", "GOVCS=*:off", "CGO_ENABLED=0", "GOPACKAGESDRIVER=off", "GOFLAGS=", "GOENV=off")
}

// problems returns the distinct errors of packages and their imports, sorted.
func problems(roots []*loader.Package) (list []string) {
	var pkgs []*packages.Package
	for _, root := range roots {
		pkgs = append(pkgs, root.Package)
	}
	seen := map[string]bool{}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			if err.Kind == packages.TypeError {
				continue // the generator checks the types that CRDs need
			}
			text := err.Msg
			if err.Pos != "" && err.Pos != "-" {
				text = near(err.Pos) + ": " + text
			}
			if !seen[text] {
				seen[text] = true
				list = append(list, text)
			}
		}
	})
	slices.Sort(list)
	return list
}

// near returns location relative to the working directory, if it is below it.
func near(location string) string {
	here, err := os.Getwd()
	if err != nil {
		return location
	}
	if rel, ok := strings.CutPrefix(location, here+string(filepath.Separator)); ok {
		return rel
	}
	return location
}

// memory is a genall.OutputRule that keeps generated files in memory.
type memory map[string]*bytes.Buffer

// Open implements genall.OutputRule.
func (m memory) Open(_ *loader.Package, path string) (io.WriteCloser, error) {
	m[path] = &bytes.Buffer{}
	return nopCloser{m[path]}, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
