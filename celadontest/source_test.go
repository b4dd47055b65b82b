package celadontest_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

func TestSources(t *testing.T) {
	t.Parallel()
	crds, err := catalog.Read(text(t, crontabs))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []any{crontabs, "../examples/crontab", os.DirFS("../examples/crontab"), crds[0]} {
		celadontest.New(t, source).Accepts(t, nightly())
	}
	celadontest.New(t, testdata).Accepts(t, note("a", 2))
	broken := crds[0].DeepCopy()
	broken.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations = apiextensionsv1.ValidationRules{{Rule: "self.x"}}
	for name, c := range map[string]struct {
		run  func(testing.TB)
		want string
	}{
		"nothing":      {func(t testing.TB) { celadontest.New(t) }, "celadontest: no CRDs given"},
		"no such file": {func(t testing.TB) { celadontest.New(t, "nowhere") }, "celadontest: nowhere: stat nowhere"},
		"no CRD":       {func(t testing.TB) { celadontest.New(t, crontabs, "../docs") }, "celadontest: ../docs: no CustomResourceDefinition in it"},
		"empty":        {func(t testing.TB) { celadontest.New(t, fstest.MapFS{}) }, "celadontest: source 1: no CustomResourceDefinition in it"},
		"hidden":       {func(t testing.TB) { celadontest.New(t, t.TempDir()) }, "celadontest: /"},
		"nil":          {func(t testing.TB) { celadontest.New(t, (*apiextensionsv1.CustomResourceDefinition)(nil)) }, "celadontest: source 1: a nil"},
		"another type": {func(t testing.TB) { celadontest.New(t, 3) }, "celadontest: source 1: a int: want the name"},
		"twice":        {func(t testing.TB) { celadontest.New(t, crontabs, crds[0]) }, "celadontest: crontabs.stable.example.com: a duplicate: keep one of them"},
		"no YAML":      {func(t testing.TB) { celadontest.New(t, fstest.MapFS{"a.yaml": {Data: []byte("a: b: c")}}) }, "celadontest: source 1/a.yaml: document 1: "},
		"broken rule":  {func(t testing.TB) { celadontest.New(t, broken).Rejects(t, nightly()) }, "celadontest: CRD crontabs.stable.example.com: "},
	} {
		if got := failures(t, c.run); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	crds, err := catalog.Read(text(t, crontabs))
	if err != nil {
		t.Fatal(err)
	}
	other := crds[0].DeepCopy()
	other.Name, other.Spec.Group = "crontabs.other.example.com", "other.example.com"
	got := failures(t, func(t testing.TB) { celadontest.New(t, crds[0], other).Accepts(t, nightly()) })
	if !strings.HasPrefix(got, "celadontest: object of Go type *celadontest_test.CronTab: several CRDs have kind CronTab") {
		t.Error(got)
	}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(schema.GroupVersion{Group: "other.example.com", Version: "v1"}, &CronTab{})
	with := celadontest.Config{Scheme: scheme}.New(t, crds[0], other)
	if got := with.Accepts(t, nightly()).GetAPIVersion(); got != "other.example.com/v1" {
		t.Error(got)
	}
	two := crds[0].DeepCopy()
	v := *two.Spec.Versions[0].DeepCopy()
	v.Name, v.Storage = "v1beta1", false
	two.Spec.Versions = append(two.Spec.Versions, v)
	got = failures(t, func(t testing.TB) { celadontest.New(t, two, other).Accepts(t, nightly()) })
	if !strings.HasPrefix(got, "celadontest: object of Go type *celadontest_test.CronTab: several CRDs have kind CronTab") {
		t.Error(got)
	}
	got = failures(t, func(t testing.TB) { celadontest.New(t, two).Accepts(t, nightly()) })
	if !strings.HasSuffix(got, `no CRD has kind CronTab and serves version "celadontest_test" (the name of the object's package): set its TypeMeta, or Config.Scheme`) {
		t.Error(got)
	}
	typed := nightly()
	typed.TypeMeta = metav1.TypeMeta{APIVersion: "stable.example.com/v1beta1", Kind: "CronTab"}
	celadontest.New(t, two).Accepts(t, typed)
}

func TestShared(t *testing.T) {
	t.Parallel()
	base, err := catalog.Read(text(t, crontabs))
	if err != nil {
		t.Fatal(err)
	}
	kind := schema.GroupKind{Group: "stable.example.com", Kind: "CronTab"}
	one := base[0].DeepCopy()
	one.Annotations = map[string]string{"test": t.Name()}
	first := celadontest.New(t, one).Definition(kind)
	if celadontest.New(t, one.DeepCopy()).Definition(kind) != first {
		t.Error("two tests have two CRDs")
	}
	one.Spec.Versions[0].Schema = nil // a copy that belongs to the test
	if first.Spec.Versions[0].Schema == nil {
		t.Error("a test modified shared data")
	}
	for i := range 40 {
		one.Annotations["test"] = fmt.Sprint(t.Name(), i)
		celadontest.New(t, one)
	}
	again := base[0].DeepCopy()
	again.Annotations = map[string]string{"test": t.Name()}
	if celadontest.New(t, again).Definition(kind) == first {
		t.Error("sets are kept for ever")
	}
}

func TestGatewayAPI(t *testing.T) {
	var folder fs.FS
	for _, root := range corpus.Folders(t) {
		if sub, err := fs.Sub(os.DirFS(root), "crds/gateway-api"); err == nil {
			folder = standard{sub}
			break
		}
	}
	kind := schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}
	route := `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"a"},"spec":{"hostnames":["a.example.com"],"rules":[{"backendRefs":[{"name":"b","port":80}]}]}}`
	first, second := celadontest.New(t, folder), celadontest.New(t, folder)
	first.Accepts(t, route)
	second.Accepts(t, route)
	if first.Definition(kind) == nil || first.Definition(kind) != second.Definition(kind) {
		t.Error("the second test reads the CRDs again")
	}
}

// standard omits the experimental channel, whose CRDs have the same names.
type standard struct{ fs.FS }

func (s standard) ReadDir(name string) (kept []fs.DirEntry, err error) {
	all, err := fs.ReadDir(s.FS, name)
	for _, e := range all {
		if !strings.Contains(e.Name(), "--experimental") {
			kept = append(kept, e)
		}
	}
	return kept, err
}
