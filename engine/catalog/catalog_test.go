package catalog_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
)

var cronTab = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "CronTab"}

func readOne(t *testing.T, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crds, err := catalog.Read([]byte(text))
	if err != nil || len(crds) != 1 {
		t.Fatalf("%d CRDs: %v", len(crds), err)
	}
	return crds[0]
}

func TestReadForms(t *testing.T) {
	t.Parallel()
	item := strings.ReplaceAll(strings.TrimSpace(crontabs), "\n", "\n  ")
	for name, c := range map[string]struct {
		text string
		want int
		err  string
	}{
		"several":      {"# none\n---\n" + crontabs + "---\napiVersion: v1\nkind: Secret\n---\n" + crontabs, 2, ""},
		"a list":       {"kind: List\napiVersion: v1\nitems:\n- " + item, 1, ""},
		"JSON":         {`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"a"}}`, 1, ""},
		"no object":    {"- a\n- b\n", 0, ""},
		"empty":        {"", 0, ""},
		"no YAML":      {crontabs + "---\na: b: c\n", 0, "document 2: "},
		"v1beta1":      {strings.Replace(crontabs, "k8s.io/v1", "k8s.io/v1beta1", 1), 1, ""},
		"v2":           {strings.Replace(crontabs, "k8s.io/v1", "k8s.io/v2", 1), 0, `document 1: apiVersion "apiextensions.k8s.io/v2": want apiextensions.k8s.io/v1`},
		"another type": {strings.Replace(crontabs, "served: true", "served: [1]", 1), 0, "document 1: not a CustomResourceDefinition: "},
		"deep lists":   {strings.Repeat(`{"kind":"List","items":[`, 6) + strings.Repeat("]}", 6), 0, "document 1: item 0: item 0: item 0: item 0: item 0: a List is nested more than 4 deep"},
		"in a list":    {"kind: List\napiVersion: v1\nitems:\n- {kind: CustomResourceDefinition, apiVersion: x}", 0, "document 1: item 0: "},
	} {
		crds, err := catalog.Read([]byte(c.text))
		if len(crds) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s: %d CRDs, %v; want %d, %q", name, len(crds), err, c.want, c.err)
		}
	}
}

func TestReadFSNamesTheFile(t *testing.T) {
	t.Parallel()
	_, err := catalog.ReadFS(fstest.MapFS{"a.yaml": {Data: []byte(crontabs)}, "b/c.yml": {Data: []byte("a: b: c")}, ".git/d.yaml": {Data: []byte("a: [")}})
	if err == nil || !strings.HasPrefix(err.Error(), "b/c.yml: document 1: ") {
		t.Errorf("got %v", err)
	}
}

// kubebuilder writes kustomize patches to config/crd.
func TestReadFSPassesPatchesOver(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v1beta1"} {
		patch := "apiVersion: apiextensions.k8s.io/" + version + "\nkind: CustomResourceDefinition\nmetadata: {name: crontabs.example.com}\nspec: {conversion: {strategy: None}}\n"
		crds, err := catalog.ReadFS(fstest.MapFS{"bases/a.yaml": {Data: []byte(crontabs)}, "patches/b.yaml": {Data: []byte(patch)}})
		if err != nil || len(crds) != 1 || crds[0].Spec.Group != "example.com" {
			t.Errorf("%s: got %d CRDs, %v", version, len(crds), err)
		}
	}
}

func TestLazy(t *testing.T) {
	t.Parallel()
	broken := readOne(t, strings.Replace(crontabs, "self.replicas", "self.replica", 1))
	if err := catalog.New(catalog.Config{}).Put(broken); err == nil {
		t.Error("a broken rule came into force")
	}
	c := catalog.New(catalog.Config{Lazy: true})
	if err := c.Put(broken); err != nil {
		t.Fatal(err)
	}
	e := c.Find(cronTab.GroupKind())
	if e == nil || e.CRD != broken || !e.Serves("v1") || e.Serves("v2") || e.HasStatus("v1") || !e.Namespaced() {
		t.Fatalf("entry %+v", e)
	}
	compiled, err := e.Engine()
	var rules *engine.CompileErrors
	if compiled == nil || !errors.As(err, &rules) {
		t.Errorf("engine %v, error %v", compiled, err)
	}
	if c.Engine(cronTab) != compiled || c.Named("crontabs.example.com") != e {
		t.Error("another engine or entry")
	}
}

func TestTwiceInOneChange(t *testing.T) {
	t.Parallel()
	c := catalog.New(catalog.Config{})
	crd := readOne(t, crontabs)
	if err := c.Put(crd); err != nil {
		t.Fatal(err)
	}
	before := c.Engine(cronTab)
	other := readOne(t, strings.Replace(crontabs, "< 10", "< 20", 1))
	err := c.Apply([]*apiextensionsv1.CustomResourceDefinition{other, crd}, nil)
	var failed *catalog.Error
	if !errors.As(err, &failed) || !errors.Is(err, catalog.ErrTwice) || failed.Index != 1 || c.Engine(cronTab) != before {
		t.Errorf("error %v", err)
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	calls := 0
	c := catalog.New(catalog.Config{Accept: func(crd *apiextensionsv1.CustomResourceDefinition) error {
		calls++
		if strings.Contains(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].XValidations[0].Rule, "20") {
			return errors.New("no")
		}
		return nil
	}})
	crd := readOne(t, crontabs)
	for range 2 {
		if err := c.Put(crd); err != nil || calls != 1 {
			t.Fatalf("error %v, asked %d times", err, calls)
		}
	}
	before := c.Engine(cronTab)
	if err := c.Put(readOne(t, strings.Replace(crontabs, "< 10", "< 20", 1))); err == nil || c.Engine(cronTab) != before {
		t.Errorf("error %v, or another engine", err)
	}
}
