// Package markers checks that the markers in Go source map to the rules of the CRDs that controller-gen generates
// from it. It is a separate module, so that Celadon's users do not depend on controller-tools.
package markers

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/internal/testing/gomod"
	"github.com/celadon-cel/celadon/internal/testing/level"
	"github.com/celadon-cel/celadon/x/markers"
	"github.com/celadon-cel/celadon/x/markers/gotree"
)

type api struct {
	module   string
	packages []string // folders
	crds     []string // globs
	// rules is the number of rules in all versions of the CRDs. scripted is the number of those
	// that a script added to the generated YAML.
	rules, scripted int
	// generated lists the packages that controller-tools can generate CRDs from.
	generated []string
}

var apis = []api{
	{"sigs.k8s.io/gateway-api", []string{"apis", "apisx"}, []string{"config/crd/*/*.yaml"}, 645, 0, []string{"sigs.k8s.io/gateway-api/apis/...", "sigs.k8s.io/gateway-api/apisx/..."}},
	// The hack/validation scripts of this module add rules for restricted labels.
	{"sigs.k8s.io/karpenter", []string{"pkg/apis"}, []string{"pkg/apis/crds/*.yaml"}, 34, 10, []string{"sigs.k8s.io/karpenter/pkg/apis/v1"}},
	{"github.com/openshift/api", []string{"."}, []string{"payload-manifests/crds/*.yaml"}, 2031, 0, []string{"github.com/openshift/api/config/v1", "github.com/openshift/api/machine/v1", "github.com/openshift/api/operator/v1", "github.com/openshift/api/network/v1alpha1"}},
}

func (a *api) source(t *testing.T, dir string) *markers.Source {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	tree, err := gotree.Open(gotree.Config{Repository: root.FS(), Name: func(file string) string { return filepath.Join(dir, file) }}, ".")
	if err != nil {
		t.Fatal(err)
	}
	var files []markers.File
	for _, p := range a.packages {
		more, err := tree.Packages(p)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	return markers.Parse(files, markers.Config{Import: tree.Import})
}

func (a *api) read(t *testing.T, dir string) (crds []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, glob := range a.crds {
		names, err := fs.Glob(os.DirFS(dir), glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.Unmarshal(data, crd); err == nil && crd.Kind == "CustomResourceDefinition" {
				crds = append(crds, crd)
			}
		}
	}
	return crds
}

// Only rules that a script added may map to no marker.
func TestMapping(t *testing.T) {
	for _, a := range apis {
		t.Run(a.module, func(t *testing.T) {
			dir := gomod.Dir(t, a.module)
			crds := a.read(t, dir)
			start := time.Now()
			src := a.source(t, dir)
			rules, unique, none := 0, 0, 0
			for _, crd := range crds {
				for _, r := range src.Map(crd).Rules {
					rules++
					switch {
					case r.Marker == nil:
						none++
						if !strings.Contains(r.Text, "karpenter.sh") && !strings.Contains(r.Text, "kubernetes.io/hostname") {
							t.Errorf("%s: %s: no marker has %s", crd.Name, r.Field, r.Text)
						}
					case len(r.Others) == 0:
						unique++
						checkPosition(t, r)
					default:
						t.Logf("%s: %s: %d markers", crd.Name, r.Field, 1+len(r.Others))
					}
				}
			}
			t.Logf("%d rules of %d CRDs, %d with one marker, in %v", rules, len(crds), unique, time.Since(start).Round(time.Millisecond))
			if rules != a.rules || none != a.scripted || float64(unique) < 0.99*float64(rules-none) {
				t.Errorf("%d rules, %d without a marker, %d with one: want %d, %d and 99 %% of the rest", rules, none, unique, a.rules, a.scripted)
			}
		})
	}
}

func checkPosition(t *testing.T, r markers.Rule) {
	t.Helper()
	at := r.Marker.At("rule", 1, 1)
	data, err := os.ReadFile(at.File)
	if err != nil {
		t.Fatal(err)
	}
	line := []rune(strings.Split(string(data), "\n")[at.Line-1])
	text := string(line[at.Column-1:])
	if r.Marker.Made != "" {
		if !strings.HasPrefix(text, "+") {
			t.Errorf("%v: no marker", at)
		}
		return
	}
	if quote := line[at.Column-2]; quote == '"' || quote == '`' {
		quoted, err := strconv.QuotedPrefix(string(line[at.Column-2:]))
		if err != nil {
			t.Errorf("%v: %v", at, err)
			return
		}
		text, _ = strconv.Unquote(quoted)
	}
	if !strings.HasPrefix(text, r.Text) {
		t.Errorf("%v: %q is not %q", at, text, r.Text)
	}
}

// The CRDs are generated twice, once with a number at the start of every rule, which identifies the
// comment that produced the rule. The mapping of the CRDs without numbers must find the same comment.
func TestMappingAsGenerated(t *testing.T) {
	if !level.Long() {
		t.Skip("CELADON_LEVEL=long runs it")
	}
	for _, a := range apis {
		t.Run(a.module, func(t *testing.T) {
			dir := gomod.Dir(t, a.module)
			src := a.source(t, dir)
			texts, marked := mark(t, src, dir)
			truth := map[string]int{} // the marker of each rule, by CRD and field
			for _, crd := range a.generate(t, dir, texts) {
				for _, r := range src.Map(crd).Rules {
					id, _, ok := strings.Cut(r.Text, "#")
					if n, err := strconv.Atoi(id); ok && err == nil {
						truth[crd.Name+" "+r.Field] = n
					}
				}
			}
			rules, same := 0, 0
			for _, crd := range a.generate(t, dir, nil) {
				for _, r := range src.Map(crd).Rules {
					id, ok := truth[crd.Name+" "+r.Field]
					if !ok {
						if r.Marker == nil || r.Marker.Made == "" {
							t.Errorf("%s: %s: the rule has no mark", crd.Name, r.Field)
						}
						continue
					}
					rules++
					switch {
					case r.Marker == marked[id]:
						same++
					case r.Marker == nil:
						t.Errorf("%s: %s: not mapped, made of %v", crd.Name, r.Field, marked[id].Position())
					default:
						t.Errorf("%s: %s: mapped to %v, made of %v", crd.Name, r.Field, r.Marker.Position(), marked[id].Position())
					}
				}
			}
			t.Logf("%d of %d generated rules mapped to the marker that made them", same, rules)
			if rules == 0 {
				t.Error("no rules")
			}
		})
	}
}

// texts holds the changed files by their path in the module.
func mark(t *testing.T, src *markers.Source, dir string) (texts map[string]string, marked []*markers.Marker) {
	t.Helper()
	texts = map[string]string{}
	lines := map[string][]string{}
	for _, m := range src.Markers() {
		if m.Made != "" || m.Rule() == "" {
			continue
		}
		at := m.At("rule", 1, 1)
		if lines[at.File] == nil {
			data, err := os.ReadFile(at.File)
			if err != nil {
				t.Fatal(err)
			}
			lines[at.File] = strings.Split(string(data), "\n")
		}
		line := []rune(lines[at.File][at.Line-1])
		lines[at.File][at.Line-1] = string(line[:at.Column-1]) + fmt.Sprintf("%d#", len(marked)) + string(line[at.Column-1:])
		marked = append(marked, m)
	}
	for file, text := range lines {
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		texts[rel] = strings.Join(text, "\n")
	}
	return texts, marked
}

// texts replaces files of the module, by their path in it.
func (a *api) generate(t *testing.T, dir string, texts map[string]string) (crds []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	here, module := t.TempDir(), t.TempDir()
	if err := os.CopyFS(module, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range texts {
		write(filepath.Join(module, name), text)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(here, name), string(data))
	}
	edit := exec.CommandContext(t.Context(), "go", "mod", "edit", "-replace="+a.module+"="+module, "-droprequire=github.com/celadon-cel/celadon", "-dropreplace=github.com/celadon-cel/celadon")
	edit.Dir = here
	if out, err := edit.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	generator := exec.CommandContext(t.Context(), "go", "tool", "controller-gen", "crd:allowDangerousTypes=true", "paths="+strings.Join(a.generated, ";"), "output:stdout")
	generator.Dir = here
	out, err := generator.Output() // it fails if some types have no CRD
	if err != nil {
		t.Logf("controller-gen: %v", err)
	}
	for _, text := range bytes.Split(out, []byte("\n---\n")) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(bytes.TrimPrefix(text, []byte("---\n")), crd); err != nil {
			t.Fatal(err)
		}
		if crd.Name != "" {
			crds = append(crds, crd)
		}
	}
	t.Logf("%d CRDs", len(crds))
	return crds
}
