package celadontest_test

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/internal/corpus"
)

const crontabs = "../examples/crontab/crd.yaml"

//go:embed testdata
var testdata embed.FS

// CronTab is a type as kubebuilder's are: a zero value that has no omitempty is
// sent.
type CronTab struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CronTabSpec   `json:"spec"`
	Status CronTabStatus `json:"status,omitempty"`
}

type CronTabSpec struct {
	Schedule    string `json:"schedule"`
	Image       string `json:"image"`
	Replicas    *int64 `json:"replicas,omitempty"`
	MaxReplicas int64  `json:"maxReplicas"`
}

type CronTabStatus struct {
	Phase string `json:"phase,omitempty"`
}

func (c *CronTab) DeepCopyObject() runtime.Object { d := *c; return &d }

func nightly() *CronTab {
	return &CronTab{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}, Spec: CronTabSpec{Schedule: "0 3 * * *", Image: "app:1", MaxReplicas: 2}}
}

func note(text string, size int) string {
	return fmt.Sprintf("{apiVersion: example.com/v1, kind: Note, metadata: {name: a}, spec: {text: %s, size: %d}}", text, size)
}

// recorder is a test that is failed without harm.
type recorder struct {
	testing.TB
	failures []string
	cleanups []func()
}

type ended struct{}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(ended{})
}

// failures is what a test says that runs f.
func failures(t *testing.T, f func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != (ended{}) {
				panic(p)
			}
		}()
		f(r)
	}()
	for _, cleanup := range r.cleanups {
		cleanup()
	}
	return strings.Join(r.failures, "\n")
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	crds := celadontest.New(t, crontabs)
	got := crds.Accepts(t, nightly())
	if replicas, _, _ := unstructured.NestedInt64(got.Object, "spec", "replicas"); replicas != 1 {
		t.Errorf("the default is not there: %v", got.Object)
	}
	text := "# a comment\n---\napiVersion: stable.example.com/v1\nkind: CronTab\nmetadata: {name: a}\nspec: {schedule: 0 3 * * *, image: a}\n"
	untyped := map[string]any{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"schedule": "0 3 * * *", "image": "a", "replicas": 3}} // an int: no decoder gives it
	for _, obj := range []any{text, []byte(text), untyped, &unstructured.Unstructured{Object: untyped}, *nightly()} {
		crds.Accepts(t, obj)
	}
}

// TestZeroValues: a zero value without omitempty is sent, and defeats the default.
func TestZeroValues(t *testing.T) {
	t.Parallel()
	crontab := nightly()
	crontab.Spec.MaxReplicas, crontab.Spec.Replicas = 0, new(int64(0))
	celadontest.New(t, crontabs).Rejects(t, crontab, celadontest.Cause{
		Field: "spec.maxReplicas", Message: "should be greater than or equal to 1", Reason: metav1.CauseTypeFieldValueInvalid,
	})
}

func TestRejects(t *testing.T) {
	t.Parallel()
	crds := celadontest.New(t, crontabs)
	crontab := nightly()
	crontab.Spec.Replicas = new(int64(3))
	err := crds.Rejects(t, crontab, celadontest.Field("spec.replicas"), celadontest.Message("replicas is 3, more than maxReplicas: 2"))
	if !apierrors.IsInvalid(err) || err.ErrStatus.Code != 422 {
		t.Errorf("got %v", err)
	}
	var status *apierrors.StatusError
	if err := crds.Err(t, crontab); !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Errorf("got %v", err)
	}
	if err := crds.Err(t, nightly()); err != nil {
		t.Errorf("got %v", err)
	}
	crds.Rejects(t, crontab)
	crds.Rejects(t, crontab, celadontest.Reason(metav1.CauseTypeFieldValueInvalid))
	// a refusal without causes is one itself, of a field that the CRD does not know
	crds.Rejects(t, "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata: {name: a}\nspec: {schedule: 0 3 * * *, image: a, replica: 1}",
		celadontest.Cause{Message: `unknown field "spec.replica"`, Reason: metav1.CauseType(metav1.StatusReasonBadRequest)})
}

func TestUpdateAndStatus(t *testing.T) {
	t.Parallel()
	crds := celadontest.New(t, crontabs)
	changed := nightly()
	changed.Spec.Image = "app:2"
	crds.Update(nightly()).Rejects(t, changed, celadontest.Cause{Field: "spec.image", Message: "is immutable", Reason: "FieldValueForbidden"})
	changed = nightly()
	changed.Spec.Schedule = "0 4 * * *"
	crds.Update(nightly()).Accepts(t, changed)
	done := nightly()
	done.Status.Phase = "Running"
	if got := crds.Status(nightly()).Accepts(t, done); got.Object["status"] == nil {
		t.Errorf("no status: %v", got.Object)
	}
	done.Status.Phase = "Done"
	crds.Status(nightly()).Rejects(t, done, celadontest.Field("status.phase"))
	if err := crds.Update(nightly()).Err(t, changed); err != nil {
		t.Error(err)
	}
}

// TestMismatch: each failure tells what was, and why.
func TestMismatch(t *testing.T) {
	t.Parallel()
	crds := celadontest.New(t, crontabs)
	bad := nightly()
	bad.Spec.Replicas, bad.Spec.Schedule = new(int64(3)), "now\n::error::"
	spec := "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata: {name: a}\nspec: "
	for name, c := range map[string]struct {
		run  func(testing.TB)
		want string
	}{
		"refused": {func(t testing.TB) { crds.Accepts(t, bad) }, `celadontest: the create of CronTab "nightly" was refused: want it accepted
  spec.replicas: Invalid value: replicas is 3, more than maxReplicas: 2
    rule: self.replicas <= self.maxReplicas
      self.replicas: 3
      self.maxReplicas: 2
  spec.schedule: Invalid value: "now\n::error::": must have five fields
    rule: self.split(' ').size() == 5
      self.split(' ').size(): 1
      self: "now\n::error::"`},
		"accepted": {func(t testing.TB) { crds.Rejects(t, nightly(), celadontest.Field("spec")) },
			`celadontest: the create of CronTab "nightly" was accepted: want it refused` + "\n  for: spec"},
		"another cause": {func(t testing.TB) {
			crds.Update(nightly()).Rejects(t, bad, celadontest.Field("spec.schedule"), celadontest.Cause{Field: "spec.image", Message: "x"})
		}, `celadontest: the update of CronTab "nightly" was refused
  not for: spec.image: x
  and also for: spec.replicas: Invalid value: replicas is 3, more than maxReplicas: 2
  spec.replicas: Invalid`},
		// the server's remark that rules did not run is no cause
		"unchecked": {func(t testing.TB) {
			crds.Rejects(t, spec+"{schedule: 1, image: a}", celadontest.Field("spec.schedule"))
		}, ""},
		"no kind":   {func(t testing.TB) { crds.Accepts(t, "a: 1") }, "celadontest: no CRD of"},
		"another":   {func(t testing.TB) { crds.Rejects(t, "apiVersion: v1\nkind: Pod") }, "celadontest: no CRD of Pod here (there are crontabs.stable.example.com)"},
		"old":       {func(t testing.TB) { crds.Update(nil).Accepts(t, bad) }, "celadontest: old object: no object given: nil"},
		"no status": {func(t testing.TB) { crds.Err(t, (*CronTab)(nil)) }, "celadontest: no object given: nil"},
		"number":    {func(t testing.TB) { crds.Err(t, 3) }, "celadontest: object of Go type int: not a JSON object"},
		"function":  {func(t testing.TB) { crds.Err(t, func() {}) }, "celadontest: object of Go type func(): json: unsupported type: func()"},
		"two":       {func(t testing.TB) { crds.Err(t, spec+"{}\n---\nb: 1") }, "celadontest: two objects in the text: want one"},
		"empty":     {func(t testing.TB) { crds.Err(t, "# nothing") }, "celadontest: no object in the text"},
		"a list":    {func(t testing.TB) { crds.Err(t, "- a") }, "celadontest: a []interface {} in the text: want an object"},
		"duplicate": {func(t testing.TB) { crds.Err(t, spec+"{}\nspec: {}") }, "celadontest: yaml: unmarshal errors:\n  line 5: key \"spec\" already set in map"},
		"no YAML":   {func(t testing.TB) { crds.Err(t, "a: b: c") }, "celadontest: not YAML: "},
		"no field validation": {func(t testing.TB) {
			celadontest.Config{FieldValidation: "strict"}.New(t, crontabs).Accepts(t, nightly())
		}, `celadontest: the create of CronTab "nightly": request: field validation "strict": want Strict, Warn or Ignore`},
	} {
		got := failures(t, c.run)
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestSources: what a call of New is given, and what it says of what is nothing.
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
		"twice":        {func(t testing.TB) { celadontest.New(t, crontabs, crds[0]) }, "celadontest: crontabs.stable.example.com: given twice"},
		"no YAML":      {func(t testing.TB) { celadontest.New(t, fstest.MapFS{"a.yaml": {Data: []byte("a: b: c")}}) }, "celadontest: source 1/a.yaml: document 1: "},
		"broken rule":  {func(t testing.TB) { celadontest.New(t, broken).Rejects(t, nightly()) }, "celadontest: CRD crontabs.stable.example.com: "},
	} {
		if got := failures(t, c.run); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestKinds: a Go struct without TypeMeta is of the CRD that its name and package
// say, or its scheme.
func TestKinds(t *testing.T) {
	t.Parallel()
	crds, err := catalog.Read(text(t, crontabs))
	if err != nil {
		t.Fatal(err)
	}
	other := crds[0].DeepCopy()
	other.Name, other.Spec.Group = "crontabs.other.example.com", "other.example.com"
	got := failures(t, func(t testing.TB) { celadontest.New(t, crds[0], other).Accepts(t, nightly()) })
	if !strings.HasPrefix(got, "celadontest: object of Go type *celadontest_test.CronTab: kind CronTab is that of several CRDs") {
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
	got = failures(t, func(t testing.TB) { celadontest.New(t, two).Accepts(t, nightly()) })
	if !strings.HasSuffix(got, `no CRD here is of kind CronTab and serves version "celadontest_test", as its package is called: set its TypeMeta, or Config.Scheme`) {
		t.Error(got)
	}
	typed := nightly()
	typed.TypeMeta = metav1.TypeMeta{APIVersion: "stable.example.com/v1beta1", Kind: "CronTab"}
	celadontest.New(t, two).Accepts(t, typed)
}

// TestUndecided fails a test in Rejects, too, and beside another cause.
func TestUndecided(t *testing.T) {
	t.Parallel()
	crds := celadontest.New(t, testdata)
	for _, size := range []int{1, 2} {
		obj := note(strings.Repeat("x", 100_000), size)
		for _, run := range []func(testing.TB){
			func(t testing.TB) { crds.Accepts(t, obj) },
			func(t testing.TB) { crds.Rejects(t, obj) },
			func(t testing.TB) { _ = crds.Err(t, obj) },
		} {
			if got := failures(t, run); !strings.Contains(got, "undecided: ") {
				t.Errorf("size %d: got %.300q", size, got)
			}
		}
	}
}

func TestCover(t *testing.T) {
	t.Parallel()
	broken := nightly()
	broken.Spec.Schedule = "now"
	got := failures(t, func(t testing.TB) {
		crds := celadontest.New(t, crontabs)
		crds.Cover(t, 20)
		crds.Rejects(t, broken)
	})
	if got != "" {
		t.Error(got)
	}
	got = failures(t, func(t testing.TB) {
		crds := celadontest.New(t, crontabs)
		crds.Cover(t, 30)
		crds.Rejects(t, broken)
	})
	want := `celadontest: coverage is 20.0 %: want 30; of 5 rules 3 ran and 1 refused
  crontabs.stable.example.com v1 spec: never refused: self.replicas <= self.maxReplicas`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got = failures(t, func(t testing.TB) {
		crds := celadontest.New(t, crontabs)
		crds.Cover(t, 0)
		crds.Cover(t, 0)
	})
	if !strings.HasPrefix(got, "celadontest: Cover is on already") {
		t.Error(got)
	}
}

// TestParallel: many tests at once share what is compiled, and count each for
// itself.
func TestParallel(t *testing.T) {
	t.Parallel()
	crds := celadontest.New(t, crontabs)
	crds.Cover(t, 20)
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for range 20 {
				crds.Accepts(t, nightly())
				broken := nightly()
				broken.Spec.Schedule = "now"
				crds.Rejects(t, broken, celadontest.Field("spec.schedule"))
				celadontest.New(t, testdata).Rejects(t, note("a", 1), celadontest.Message("must have a size"))
			}
		})
	}
}

// TestShared: who reads the same has the same engine, and many sets are not kept.
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
	one.Spec.Versions[0].Schema = nil // is the test's own
	if first.Spec.Versions[0].Schema == nil {
		t.Error("a test changes what others have")
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

// TestGatewayAPI holds what the first verdict of a test costs where another of the
// process has read the CRDs before.
func TestGatewayAPI(t *testing.T) {
	var folder fs.FS
	for _, root := range corpus.Folders(t) {
		if sub, err := fs.Sub(os.DirFS(root), "crds/gateway-api"); err == nil {
			folder = standard{sub}
			break
		}
	}
	route := `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"a"},"spec":{"hostnames":["a.example.com"],"rules":[{"backendRefs":[{"name":"b","port":80}]}]}}`
	for _, run := range []string{"cold", "warm"} {
		start := time.Now()
		celadontest.New(t, folder).Accepts(t, route)
		took := time.Since(start)
		t.Logf("%s: %v", run, took)
		if run == "warm" && took > 100*time.Millisecond {
			t.Errorf("New and a verdict take %v: want less than 100 ms", took)
		}
	}
}

// standard leaves the experimental channel out, whose CRDs have the same names.
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

func text(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecide(t *testing.T) {
	t.Parallel()
	crds := celadontest.New(t, crontabs)
	obj := crds.Accepts(t, nightly()).Object
	res, err := crds.Decide(t.Context(), engine.Request{Object: obj})
	if err != nil || !res.Allowed {
		t.Error(res, err)
	}
	if crds.Definition(schema.GroupKind{Kind: "Pod"}) != nil {
		t.Error("a CRD of pods")
	}
}
