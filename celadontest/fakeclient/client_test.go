package fakeclient_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/celadontest/fakeclient"
)

const crontabs = "../../examples/crontab/crd.yaml"

var groupVersion = schema.GroupVersion{Group: "stable.example.com", Version: "v1"}

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
	MaxReplicas int64  `json:"maxReplicas,omitempty"`
	Env         []Env  `json:"env,omitempty"`
	// Unknown is not in the CRD.
	Unknown string `json:"unknown,omitempty"`
}

type Env struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

type CronTabStatus struct {
	Phase string `json:"phase,omitempty"`
}

type CronTabList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CronTab `json:"items"`
}

func (c *CronTab) DeepCopyObject() runtime.Object {
	d := *c
	c.ObjectMeta.DeepCopyInto(&d.ObjectMeta)
	d.Spec.Env = append([]Env(nil), c.Spec.Env...)
	return &d
}

func (l *CronTabList) DeepCopyObject() runtime.Object {
	d := *l
	d.Items = nil
	for i := range l.Items {
		d.Items = append(d.Items, *l.Items[i].DeepCopyObject().(*CronTab))
	}
	return &d
}

func newScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	s.AddKnownTypes(groupVersion, &CronTab{}, &CronTabList{})
	metav1.AddToGroupVersion(s, groupVersion)
	if err := scheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

func newCronTab(name string) *CronTab {
	return &CronTab{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: CronTabSpec{Schedule: "0 3 * * *", Image: "app:1"}}
}

func newClient(t testing.TB, seeds ...client.Object) client.WithWatch {
	t.Helper()
	cfg := fakeclient.Config{Scheme: newScheme(t)}
	return cfg.NewClientBuilder(t, celadontest.New(t, crontabs)).WithObjects(seeds...).Build()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func rejected(t *testing.T, err error, text string) {
	t.Helper()
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want Invalid with %q", err, text)
	}
}

func TestWrites(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newClient(t)
	obj := newCronTab("a")
	obj.Status.Phase = "Running"
	must(t, c.Create(ctx, obj))
	if obj.Spec.MaxReplicas != 10 || *obj.Spec.Replicas != 1 || obj.Generation != 1 || obj.UID == "" || obj.ResourceVersion == "" || obj.Status.Phase != "" ||
		obj.CreationTimestamp.IsZero() || len(obj.ManagedFields) != 1 || obj.Kind != "" {
		t.Errorf("after create: %+v", obj)
	}
	if err := c.Create(ctx, newCronTab("a")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("got %v", err)
	}
	bad := newCronTab("b")
	bad.Spec.Schedule = "now"
	rejected(t, c.Create(ctx, bad), `CronTab.stable.example.com "b" is invalid: spec.schedule: Invalid value: "now": must have five fields`)
	bad.Spec.Schedule, bad.Spec.Unknown = obj.Spec.Schedule, "x"
	if err := c.Create(ctx, bad); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `unknown field "spec.unknown"`) {
		t.Errorf("got %v", err)
	}
	must(t, c.Create(ctx, bad, client.FieldValidation("Warn")))
	if bad.Spec.Unknown != "" {
		t.Error("an unknown field is persisted")
	}

	stale := obj.DeepCopyObject().(*CronTab)
	obj.Spec.Schedule = "0 4 * * *"
	obj.Status.Phase = "Running" // the main endpoint does not change the status
	must(t, c.Update(ctx, obj))
	if obj.Generation != 2 || obj.Status.Phase != "" {
		t.Errorf("after update: %+v", obj)
	}
	if err := c.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	version := obj.ResourceVersion
	must(t, c.Update(ctx, obj))
	if obj.ResourceVersion != version {
		t.Error("an update without change is written")
	}
	changed := obj.DeepCopyObject().(*CronTab)
	changed.Spec.Image = "app:2"
	rejected(t, c.Update(ctx, changed), "spec.image: Forbidden: is immutable")
	rejected(t, c.Patch(ctx, changed, client.MergeFrom(obj)), "spec.image: Forbidden: is immutable")
	changed.ResourceVersion, changed.Spec.Image = "", "app:1"
	rejected(t, c.Update(ctx, changed), "metadata.resourceVersion: Invalid value: 0: must be specified for an update")

	obj.Status.Phase = "Running"
	must(t, c.Status().Update(ctx, obj))
	if obj.Generation != 2 || obj.Status.Phase != "Running" {
		t.Errorf("after status update: %+v", obj)
	}
	obj.Status.Phase = "Done"
	rejected(t, c.Status().Update(ctx, obj), `status.phase: Unsupported value: "Done"`)
	must(t, c.Get(ctx, client.ObjectKeyFromObject(obj), obj))
	before := obj.DeepCopyObject().(client.Object)
	obj.Status.Phase = "Pending"
	must(t, c.Status().Patch(ctx, obj, client.MergeFrom(before)))
	if obj.Status.Phase != "Pending" {
		t.Errorf("after status patch: %+v", obj)
	}
	var list CronTabList
	must(t, c.List(ctx, &list, client.InNamespace("default")))
	if len(list.Items) != 2 || list.Items[0].Name != "a" || list.Items[0].Status.Phase != "Pending" {
		t.Errorf("listed %+v", list)
	}
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newClient(t)
	obj := newCronTab("a")
	obj.Finalizers = []string{"example.com/done"}
	must(t, c.Create(ctx, obj))
	must(t, c.Delete(ctx, obj, client.DryRunAll))
	must(t, c.Delete(ctx, obj))
	must(t, c.Get(ctx, client.ObjectKeyFromObject(obj), obj))
	if obj.DeletionTimestamp == nil || obj.Generation != 2 {
		t.Errorf("got %+v", obj)
	}
	obj.Finalizers = nil
	must(t, c.Update(ctx, obj))
	if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"a", "b"} {
		obj := newCronTab(name)
		obj.Labels = map[string]string{"name": name}
		must(t, c.Create(ctx, obj))
	}
	must(t, c.DeleteAllOf(ctx, &CronTab{}, client.InNamespace("default"), client.MatchingLabels{"name": "a"}))
	var list CronTabList
	must(t, c.List(ctx, &list))
	if len(list.Items) != 1 || list.Items[0].Name != "b" {
		t.Errorf("got %+v", list.Items)
	}
	if err := c.Delete(ctx, newCronTab("a")); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newClient(t)
	obj := newCronTab("a")
	must(t, c.Create(ctx, obj, client.DryRunAll))
	if obj.Spec.MaxReplicas != 10 || obj.ResourceVersion != "" {
		t.Errorf("got %+v", obj)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	bad := newCronTab("a")
	bad.Spec.Schedule = "now"
	rejected(t, c.Create(ctx, bad, client.DryRunAll), "must have five fields")
	must(t, c.Create(ctx, newCronTab("a")))
	must(t, c.Get(ctx, client.ObjectKeyFromObject(obj), obj))
	obj.Spec.Schedule = "0 5 * * *"
	must(t, c.Update(ctx, obj, client.DryRunAll))
	var stored CronTab
	must(t, c.Get(ctx, client.ObjectKeyFromObject(obj), &stored))
	if stored.Spec.Schedule != "0 3 * * *" || obj.Spec.Schedule != "0 5 * * *" {
		t.Errorf("stored %+v, answered %+v", stored, obj)
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newClient(t)
	apply := func(owner string, spec map[string]any, opts ...client.ApplyOption) error {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		u.SetGroupVersionKind(groupVersion.WithKind("CronTab"))
		u.SetNamespace("default")
		u.SetName("a")
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), append(opts, client.FieldOwner(owner))...)
	}
	env := func(name, value string) []any { return []any{map[string]any{"name": name, "value": value}} }
	must(t, apply("one", map[string]any{"schedule": "0 3 * * *", "image": "a", "env": env("A", "1")}))
	must(t, apply("two", map[string]any{"env": env("B", "2")}))
	var obj CronTab
	must(t, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, &obj))
	if fmt.Sprint(obj.Spec.Env) != "[{A 1} {B 2}]" || len(obj.ManagedFields) != 2 || obj.ManagedFields[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("got %+v", obj)
	}
	if err := apply("two", map[string]any{"env": env("A", "2")}); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	must(t, apply("two", map[string]any{"env": env("A", "2")}, client.ForceOwnership))
	rejected(t, apply("two", map[string]any{"env": env("a", "2")}), "spec.env: Invalid value")
	if err := apply("two", map[string]any{"unknown": "x"}); err == nil || !strings.Contains(err.Error(), "field not declared in schema") {
		t.Errorf("got %v", err)
	}
	if err := apply("", map[string]any{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "fieldManager") {
		t.Errorf("got %v", err)
	}
}

type failing struct {
	testing.TB
	failures []string
}

func (f *failing) Helper() {}
func (f *failing) Errorf(format string, args ...any) {
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
}

func BenchmarkCreate(b *testing.B) {
	ctx, c := b.Context(), newClient(b)
	for i := 0; b.Loop(); i++ {
		if err := c.Create(ctx, newCronTab(fmt.Sprint("a-", i))); err != nil {
			b.Fatal(err)
		}
	}
}

func TestSubresourceBodies(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newClient(t)
	obj := newCronTab("a")
	must(t, c.Create(ctx, obj))
	body := obj.DeepCopyObject().(*CronTab)
	body.Status.Phase = "Running"
	must(t, c.Status().Update(ctx, obj, client.WithSubResourceBody(body)))
	if body.Status.Phase != "Running" || body.ResourceVersion == obj.ResourceVersion {
		t.Errorf("got %+v", body)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": "Pending"}}}
	u.SetGroupVersionKind(groupVersion.WithKind("CronTab"))
	u.SetNamespace("default")
	u.SetName("a")
	must(t, c.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("one"), client.ForceOwnership))
	must(t, c.Get(ctx, client.ObjectKeyFromObject(obj), obj))
	if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); obj.Status.Phase != "Pending" || phase != "Pending" {
		t.Errorf("got %+v and %v", obj, u.Object)
	}
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(groupVersion.WithKind("CronTab"))
	partial.SetNamespace("default")
	partial.SetName("a")
	must(t, c.Patch(ctx, partial, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))))
	if partial.Labels["a"] != "b" || partial.Kind != "CronTab" {
		t.Errorf("got %+v", partial)
	}
	if err := c.Update(ctx, partial); err == nil || !strings.Contains(err.Error(), "using only metadata") {
		t.Errorf("got %v", err)
	}
}

func TestGeneratedNames(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newClient(t)
	seen := map[string]bool{}
	for range 20 {
		obj := newCronTab("")
		obj.GenerateName = "a-"
		must(t, c.Create(ctx, obj))
		if len(obj.Name) != len("a-")+5 || seen[obj.Name] {
			t.Errorf("got %q", obj.Name)
		}
		seen[obj.Name] = true
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newClient(t)
	must(t, c.Create(ctx, newCronTab("a")))
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 20 {
				patch := fmt.Sprintf(`{"metadata":{"labels":{"l-%d":"%d"}}}`, worker, i)
				if err := c.Patch(ctx, newCronTab("a"), client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
					t.Error(err)
				}
				var list CronTabList
				if err := c.List(ctx, &list); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	var obj CronTab
	must(t, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, &obj))
	if len(obj.Labels) != 4 || obj.Generation != 1 {
		t.Errorf("got %+v", obj)
	}
}

func Example() {
	t := &failing{TB: &testing.T{}} // replaces the argument of a test function
	crds := celadontest.New(t, crontabs)
	c := fakeclient.NewClientBuilder(t, crds).Build()

	crontab := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "stable.example.com/v1", "kind": "CronTab",
		"metadata": map[string]any{"name": "nightly", "namespace": "default"},
		"spec":     map[string]any{"schedule": "daily", "image": "app:1"},
	}}
	fmt.Println(c.Create(context.Background(), crontab))
	// Output:
	// CronTab.stable.example.com "nightly" is invalid: spec.schedule: Invalid value: "daily": must have five fields
}
