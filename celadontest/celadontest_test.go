package celadontest_test

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/engine"
)

const crontabs = "../examples/crontab/crd.yaml"

//go:embed testdata
var testdata embed.FS

// CronTab is a type like those for controller-gen. Zero values of fields without omitempty are
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
		"spec": map[string]any{"schedule": "0 3 * * *", "image": "a", "replicas": 3}} // an int, which decoders never produce
	for _, obj := range []any{text, []byte(text), untyped, &unstructured.Unstructured{Object: untyped}, *nightly()} {
		crds.Accepts(t, obj)
	}
}

func TestZeroValues(t *testing.T) {
	t.Parallel()
	crontab := nightly()
	crontab.Spec.MaxReplicas, crontab.Spec.Replicas = 0, new(int64)
	celadontest.New(t, crontabs).Rejects(t, crontab, celadontest.Cause{
		Field: "spec.maxReplicas", Message: "should be greater than or equal to 1", Reason: metav1.CauseTypeFieldValueInvalid,
	})
}

func TestRejects(t *testing.T) {
	t.Parallel()
	crds := celadontest.New(t, crontabs)
	crontab := nightly()
	crontab.Spec.Replicas = number(3)
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
	// A rejection without causes, here of an unknown field, matches like a single cause.
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

func TestMismatch(t *testing.T) {
	t.Parallel()
	crds := celadontest.New(t, crontabs)
	bad := nightly()
	bad.Spec.Replicas, bad.Spec.Schedule = number(3), "now\n::error::"
	spec := "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata: {name: a}\nspec: "
	for name, c := range map[string]struct {
		run  func(testing.TB)
		want string
	}{
		"refused": {func(t testing.TB) { crds.Accepts(t, bad) }, `celadontest: the create of CronTab "nightly" was rejected, want accepted
  spec.replicas: Invalid value: replicas is 3, more than maxReplicas: 2
    rule: self.replicas <= self.maxReplicas
      self.replicas: 3
      self.maxReplicas: 2
  spec.schedule: Invalid value: "now\n::error::": must have five fields
    rule: self.split(' ').size() == 5
      self.split(' ').size(): 1
      self: "now\n::error::"`},
		"accepted": {func(t testing.TB) { crds.Rejects(t, nightly(), celadontest.Field("spec")) },
			`celadontest: the create of CronTab "nightly" was accepted, want rejected` + "\n  for: spec"},
		"another cause": {func(t testing.TB) {
			crds.Update(nightly()).Rejects(t, bad, celadontest.Field("spec.schedule"), celadontest.Cause{Field: "spec.image", Message: "x"})
		}, `celadontest: the update of CronTab "nightly" was rejected
  not for: spec.image: x
  and also for: spec.replicas: Invalid value: replicas is 3, more than maxReplicas: 2
  spec.replicas: Invalid`},
		// The server's cause that rules did not run is ignored.
		"unchecked": {func(t testing.TB) {
			crds.Rejects(t, spec+"{schedule: 1, image: a}", celadontest.Field("spec.schedule"))
		}, ""},
		"no kind":   {func(t testing.TB) { crds.Accepts(t, "a: 1") }, "celadontest: no CRD for"},
		"another":   {func(t testing.TB) { crds.Rejects(t, "apiVersion: v1\nkind: Pod") }, "celadontest: no CRD for Pod (got CRDs for crontabs.stable.example.com)"},
		"old":       {func(t testing.TB) { crds.Update(nil).Accepts(t, bad) }, "celadontest: old object: no object given: nil"},
		"no status": {func(t testing.TB) { crds.Err(t, (*CronTab)(nil)) }, "celadontest: no object given: nil"},
		"number":    {func(t testing.TB) { crds.Err(t, 3) }, "celadontest: object of Go type int: not a JSON object"},
		"function":  {func(t testing.TB) { crds.Err(t, func() {}) }, "celadontest: object of Go type func(): json: unsupported type: func()"},
		"two":       {func(t testing.TB) { crds.Err(t, spec+"{}\n---\nb: 1") }, "celadontest: two objects in the string: want one"},
		"empty":     {func(t testing.TB) { crds.Err(t, "# nothing") }, "celadontest: no object in the string"},
		"a list":    {func(t testing.TB) { crds.Err(t, "- a") }, "celadontest: a []interface {} in the string: want an object"},
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

func TestPasswords(t *testing.T) {
	t.Parallel()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(`{metadata: {name: locks.l.test}, spec: {group: l.test, scope: Namespaced, names: {plural: locks, kind: Lock}, versions: [
		{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object,
			properties: {key: {type: string, format: password}, size: {type: integer}},
			x-kubernetes-validations: [{rule: "self.key.substring(0, 3) == 'abc' || self.size > 9"}]}}}}}]}}`), crd); err != nil {
		t.Fatal(err)
	}
	got := failures(t, func(t testing.TB) {
		celadontest.New(t, crd).Accepts(t, "{apiVersion: l.test/v1, kind: Lock, metadata: {name: a}, spec: {key: geheim, size: 7}}")
	})
	if !strings.Contains(got, "self.key.substring(0, 3): \"(hidden)\"") || !strings.Contains(got, "self.size: 7") || strings.Contains(got, "geh") {
		t.Errorf("got\n%s", got)
	}
}

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
	want := `celadontest: coverage is 20.0 %, want 30; of 5 rules, 3 ran and 1 rejected
  crontabs.stable.example.com v1 spec: never rejected: self.replicas <= self.maxReplicas`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got = failures(t, func(t testing.TB) {
		crds := celadontest.New(t, crontabs)
		crds.Cover(t, 0)
		crds.Cover(t, 0)
	})
	if !strings.HasPrefix(got, "celadontest: Cover is already on") {
		t.Error(got)
	}
}

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

func number(n int64) *int64 { return &n }
