package fakeclient_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/celadontest/fakeclient"
)

const crontabs = "../../examples/crontab/crd.yaml"

var groupVersion = schema.GroupVersion{Group: "stable.example.com", Version: "v1"}

// CronTab is a type as kubebuilder's are.
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

// refused asks for an Invalid error with a text.
func refused(t *testing.T, err error, text string) {
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
	refused(t, c.Create(ctx, bad), `CronTab.stable.example.com "b" is invalid: spec.schedule: Invalid value: "now": must have five fields`)
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
	obj.Status.Phase = "Running" // not by this endpoint
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
	refused(t, c.Update(ctx, changed), "spec.image: Forbidden: is immutable")
	refused(t, c.Patch(ctx, changed, client.MergeFrom(obj)), "spec.image: Forbidden: is immutable")
	changed.ResourceVersion, changed.Spec.Image = "", "app:1"
	refused(t, c.Update(ctx, changed), "metadata.resourceVersion: Invalid value: 0: must be specified for an update")

	obj.Status.Phase = "Running"
	must(t, c.Status().Update(ctx, obj))
	if obj.Generation != 2 || obj.Status.Phase != "Running" {
		t.Errorf("after status update: %+v", obj)
	}
	obj.Status.Phase = "Done"
	refused(t, c.Status().Update(ctx, obj), `status.phase: Unsupported value: "Done"`)
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
	refused(t, c.Create(ctx, bad, client.DryRunAll), "must have five fields")
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

// TestApply: lists merge by the CRD's keys, and other owners are in the way.
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
	refused(t, apply("two", map[string]any{"env": env("a", "2")}), "spec.env: Invalid value")
	if err := apply("two", map[string]any{"unknown": "x"}); err == nil || !strings.Contains(err.Error(), "field not declared in schema") {
		t.Errorf("got %v", err)
	}
	if err := apply("", map[string]any{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "fieldManager") {
		t.Errorf("got %v", err)
	}
}

// TestOthers: kinds without a CRD are the fake client's.
func TestOthers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newClient(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "seed"}})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}
	must(t, c.Create(ctx, pod))
	pod.Status.Phase = corev1.PodRunning
	must(t, c.Status().Update(ctx, pod))
	must(t, c.Get(ctx, client.ObjectKeyFromObject(pod), pod))
	if pod.Status.Phase != corev1.PodRunning {
		t.Errorf("got %+v", pod)
	}
	var maps corev1.ConfigMapList
	must(t, c.List(ctx, &maps))
	if len(maps.Items) != 1 {
		t.Errorf("got %+v", maps)
	}
	must(t, c.Delete(ctx, pod))
}

// failing is a test that is failed without harm.
type failing struct {
	testing.TB
	failures []string
}

func (f *failing) Helper() {}
func (f *failing) Errorf(format string, args ...any) {
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
}

func TestSeeds(t *testing.T) {
	t.Parallel()
	good, bad := newCronTab("good"), newCronTab("bad")
	good.Status.Phase, good.UID, good.Generation = "Running", "u", 7
	bad.Spec.Schedule = "now"
	for _, meant := range []bool{false, true} {
		f := &failing{TB: t}
		cfg := fakeclient.Config{Scheme: newScheme(t), InvalidSeeds: meant}
		c := cfg.NewClientBuilder(f, celadontest.New(t, crontabs)).WithObjects(good.DeepCopyObject().(*CronTab), bad.DeepCopyObject().(*CronTab)).Build()
		if meant != (len(f.failures) == 0) || !meant && !strings.Contains(f.failures[0], "must have five fields") {
			t.Errorf("meant %v: %q", meant, f.failures)
		}
		var obj CronTab
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(good), &obj))
		if obj.Status.Phase != "Running" || obj.UID != "u" || obj.Generation != 7 || obj.Spec.MaxReplicas != 10 {
			t.Errorf("got %+v", obj)
		}
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(bad), &obj))
		obj.Labels = map[string]string{"a": "b"}
		must(t, c.Update(t.Context(), &obj)) // what was there before is not checked again
	}
}

// TestBypassed: what replaces the interceptors is told, and does not pass.
func TestBypassed(t *testing.T) {
	t.Parallel()
	cfg := fakeclient.Config{Scheme: newScheme(t)}
	c := cfg.NewClientBuilder(t, celadontest.New(t, crontabs)).WithInterceptorFuncs(interceptor.Funcs{}).Build()
	if err := c.Create(t.Context(), newCronTab("a")); err == nil || !strings.Contains(err.Error(), "interceptor.NewClient") {
		t.Errorf("got %v", err)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newClient(t)
	w, err := c.Watch(ctx, &CronTabList{})
	must(t, err)
	defer w.Stop()
	obj := newCronTab("a")
	must(t, c.Create(ctx, obj))
	must(t, c.Delete(ctx, obj))
	for _, want := range []string{"ADDED", "DELETED"} {
		e := <-w.ResultChan()
		if got, ok := e.Object.(*CronTab); !ok || string(e.Type) != want || got.Name != "a" {
			t.Errorf("got %+v, want %s", e, want)
		}
	}
}

// TestThousandCreates holds what a create costs.
func TestThousandCreates(t *testing.T) {
	ctx, c := context.Background(), newClient(t)
	start := time.Now()
	for i := range 1000 {
		must(t, c.Create(ctx, newCronTab(fmt.Sprint("a-", i))))
	}
	took := time.Since(start)
	t.Logf("1,000 creates in %v", took)
	if took > time.Second {
		t.Errorf("1,000 creates take %v: want less than a second", took)
	}
}
