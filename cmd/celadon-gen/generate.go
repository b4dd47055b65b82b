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

// toolsVersion is what go.mod requires of controller-tools; a test holds it.
const toolsVersion = "v0.23.0"

// made are CRDs in YAML, in the order of their names, and what could not be made.
type made struct {
	crds     [][]byte
	problems []string
}

// generate loads packages, as they are named in a folder; "" is this one.
func generate(ctx context.Context, dir string, patterns []string) (*made, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, fmt.Errorf("no go command: %w", err)
	}
	roots, err := loader.LoadRootsWithConfig(&packages.Config{
		Context: ctx, Dir: dir, Env: environment(os.Environ()), BuildFlags: []string{"-mod=readonly", "-buildvcs=false"},
	}, patterns...)
	if err != nil {
		return nil, err
	}
	m := &made{problems: problems(roots)}
	if len(m.problems) > 0 {
		return m, nil // of half a package comes half a CRD
	}
	registry := &markers.Registry{}
	yes := true
	generator := crd.Generator{AllowDangerousTypes: &yes, OmitToolVersion: &yes}
	if err := generator.RegisterMarkers(registry); err != nil {
		return nil, err
	}
	out := memory{}
	err = generator.Generate(&genall.GenerationContext{
		Collector: &markers.Collector{Registry: registry}, Roots: roots, Checker: &loader.TypeChecker{NodeFilters: []loader.NodeFilter{generator.CheckFilter()}},
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

// kept are the variables that say where the user's own go and its caches are.
var kept = []string{"PATH", "HOME", "GOROOT", "GOPATH", "GOMODCACHE", "GOCACHE", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "LocalAppData", "USERPROFILE", "SYSTEMROOT"}

// environment is that of a go command that connects to nothing and runs nothing: no
// other toolchain, driver, compiler or flags.
func environment(user []string) []string {
	env := slices.DeleteFunc(slices.Clone(user), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(kept, name)
	})
	return append(env, "GOTOOLCHAIN=local", "GOPROXY=off", "GOVCS=*:off", "CGO_ENABLED=0", "GOPACKAGESDRIVER=off", "GOFLAGS=", "GOENV=off")
}

// problems are the errors of packages and of what they import, each once.
func problems(roots []*loader.Package) (list []string) {
	var pkgs []*packages.Package
	for _, root := range roots {
		pkgs = append(pkgs, root.Package)
	}
	seen := map[string]bool{}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			if err.Kind == packages.TypeError {
				continue // only what CRDs need is type-checked
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

// near is a place from the working directory, where it is below that.
func near(place string) string {
	here, err := os.Getwd()
	if err != nil {
		return place
	}
	if rel, ok := strings.CutPrefix(place, here+string(filepath.Separator)); ok {
		return rel
	}
	return place
}

// memory is where a generator's files go.
type memory map[string]*bytes.Buffer

// Open is genall.OutputRule's.
func (m memory) Open(_ *loader.Package, path string) (io.WriteCloser, error) {
	m[path] = &bytes.Buffer{}
	return nopCloser{m[path]}, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
