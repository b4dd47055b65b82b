package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

type vetSizes struct{ crds, ofProject, mutants, texts int }

var (
	vetSample = vetSizes{crds: 60, ofProject: 3, mutants: 100, texts: 60}
	vetFull   = vetSizes{crds: 10_000, ofProject: 10_000, mutants: 1000, texts: 400}
)

func TestVet(t *testing.T) {
	sizes := vetSample
	if level.Long() {
		sizes = vetFull
	}
	files := crdFiles(t, sizes)
	s := startServer(t)
	for _, mode := range []struct {
		name  string
		cases []*vetCase
	}{
		{"vet-corpus", ofCorpus(t, files)},
		{"vet-mutants", ofMutants(t, files, sizes.mutants)},
		{"vet-slips", ofSlips(t, files, sizes.texts)},
	} {
		report := NewReport(mode.name)
		s.sweepCRDs(t.Context(), mode.cases, report)
		finish(t, report)
	}
}

// crdFile is an unmodified CRD of a corpus, including its conversion webhook.
type crdFile struct {
	id   string
	crd  *apiextensionsv1.CustomResourceDefinition
	size int
}

func crdFiles(t *testing.T, sizes vetSizes) (files []*crdFile) {
	t.Helper()
	for _, dir := range corpus.Folders(t) {
		paths, err := filepath.Glob(filepath.Join(dir, "crds", "*", "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f := &crdFile{id: filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path), crd: &apiextensionsv1.CustomResourceDefinition{}, size: len(data)}
			if err := yaml.Unmarshal(data, f.crd); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			files = append(files, f)
		}
	}
	slices.SortStableFunc(files, func(a, b *crdFile) int { return cmp.Compare(a.size, b.size) })
	taken := map[string]int{}
	files = slices.DeleteFunc(files, func(f *crdFile) bool {
		project := filepath.Dir(f.id)
		taken[project]++
		return taken[project] > sizes.ofProject
	})
	return files[:min(len(files), sizes.crds)]
}

func ofCorpus(t *testing.T, files []*crdFile) (cases []*vetCase) {
	t.Helper()
	before := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, f := range files {
		cases = append(cases, newVetCase(t, f.id, f.crd, nil))
		if old := before[f.crd.Name]; old != nil {
			cases = append(cases, newVetCase(t, f.id+" update", f.crd, old))
		}
		before[f.crd.Name] = f.crd
	}
	return cases
}

func ofMutants(t *testing.T, files []*crdFile, n int) (cases []*vetCase) {
	t.Helper()
	for seed := range n {
		f := files[seed%len(files)]
		m := brokencrd.Of(f.crd, uint64(seed))
		id := fmt.Sprintf("%d %s %q", seed, f.id, m.Changes)
		cases = append(cases, newVetCase(t, id, m.CRD, nil))
		if m.CRD.Name != f.crd.Name {
			continue // updates require the same name
		}
		switch seed % 4 {
		case 1:
			cases = append(cases, newVetCase(t, id+" from the original", m.CRD, f.crd))
		case 2:
			cases = append(cases, newVetCase(t, id+" to the original", f.crd, m.CRD))
		case 3:
			cases = append(cases, newVetCase(t, id+" again", m.CRD, m.CRD))
		}
	}
	return cases
}

func ofSlips(t *testing.T, files []*crdFile, n int) (cases []*vetCase) {
	t.Helper()
	for seed := range n {
		f := files[seed%len(files)]
		c := newVetCase(t, f.id, f.crd, nil)
		var slip string
		c.body, slip = brokencrd.Text(c.body, uint64(seed))
		c.id = fmt.Sprintf("%d %s %q", seed, f.id, slip)
		cases = append(cases, c)
	}
	return cases
}

// The case has the CRDs as the server decodes them, for example without a default that is null.
func newVetCase(t *testing.T, id string, crd, old *apiextensionsv1.CustomResourceDefinition) *vetCase {
	t.Helper()
	body, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	c := &vetCase{id: id, name: crd.Name, body: body}
	if old == nil {
		return c
	}
	data, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	c.old = &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(data, c.old); err != nil {
		t.Fatal(err)
	}
	return c
}

// Paths longer than 64 KiB exceed the buffer of the scanner in the server's own validation, which then
// panics. Vet reports that.
func TestVetLongPath(t *testing.T) {
	crd, err := parseCRD([]byte(differencesCRD))
	if err != nil {
		t.Fatal(err)
	}
	var cases []*vetCase
	for _, n := range []int{10, 60_000, 70_000, 400_000} {
		crd.Spec.Versions[0].SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: strings.Repeat("$", n)}}
		cases = append(cases, newVetCase(t, fmt.Sprintf("path of %d", n), crd, nil))
	}
	report := NewReport("vet-paths")
	startServer(t).sweepCRDs(t.Context(), cases, report)
	finish(t, report)
}

// The server's validation panics over these rules, unless another error prevents their compilation. Vet
// reports the panic.
func TestVetPanics(t *testing.T) {
	crd, err := parseCRD([]byte(differencesCRD))
	if err != nil {
		t.Fatal(err)
	}
	var cases []*vetCase
	for _, rule := range []string{
		"{b'a': 1}.size() > 0",
		"[?dyn(self)].size() == 0",
		"[1].all(x, {?'a': dyn(x)}.size() == 0)",
		"'%s'.format([?dyn(1)]) == ''",
	} {
		c := crd.DeepCopy()
		c.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations = apiextensionsv1.ValidationRules{{Rule: rule}}
		wrong := c.DeepCopy()
		wrong.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["wrong"] = apiextensionsv1.JSONSchemaProps{Type: "nothing"}
		cases = append(cases, newVetCase(t, rule, c, nil), newVetCase(t, rule+" and an error", wrong, nil))
	}
	report := NewReport("vet-panics")
	startServer(t).sweepCRDs(t.Context(), cases, report)
	finish(t, report)
}

// Among equally expensive rules, the server names random ones, and vet always the same.
func TestNamedForTotal(t *testing.T) {
	t.Parallel()
	many := int64(1_500_000)
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for i := range 20 {
		spec.Properties[fmt.Sprintf("list%02d", i)] = apiextensionsv1.JSONSchemaProps{
			Type: "array", MaxItems: &many,
			Items:        &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "boolean"}},
			XValidations: apiextensionsv1.ValidationRules{{Rule: "self.all(x, x)"}},
		}
	}
	crd, err := parseCRD([]byte(differencesCRD))
	if err != nil {
		t.Fatal(err)
	}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	c := newVetCase(t, "total", crd, nil)
	first, err := vetCRD(t.Context(), c, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Causes) != 5 {
		t.Fatalf("want four rules and the sum, got %q", first.Causes)
	}
	for range runs {
		again, err := vetCRD(t.Context(), c, "")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(first.Causes, again.Causes) {
			t.Fatalf("%q, then %q", first.Causes, again.Causes)
		}
	}
}
