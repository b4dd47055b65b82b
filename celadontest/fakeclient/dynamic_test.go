package fakeclient_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/celadontest/fakeclient"
)

type warnings []string

func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }

func ships(t testing.TB, version string) schema.GroupVersionResource {
	t.Helper()
	return schema.GroupVersionResource{Group: "example.com", Version: version, Resource: "ships"}
}

func ship(version, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + version, "kind": "Ship", "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

func newDynamic(t testing.TB, cfg fakeclient.Config, seeds ...runtime.Object) dynamic.Interface {
	t.Helper()
	lists := map[schema.GroupVersionResource]string{ships(t, "v1"): "ShipList", ships(t, "v1beta1"): "ShipList", {Version: "v1", Resource: "pods"}: "PodList"}
	c := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)
	cfg.React(t, celadontest.New(t, "testdata/ships.yaml"), &c.Fake, seeds...)
	return c
}

func TestDynamic(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var warned warnings
	c := newDynamic(t, fakeclient.Config{Warnings: &warned}, ship("v1", "seed", map[string]any{}))
	v1, v1beta1 := c.Resource(ships(t, "v1")), c.Resource(ships(t, "v1beta1"))
	w, err := v1.Watch(ctx, metav1.ListOptions{})
	must(t, err)
	defer w.Stop()

	created, err := v1beta1.Create(ctx, ship("v1beta1", "a", map[string]any{}), metav1.CreateOptions{})
	must(t, err)
	if sails, _, _ := unstructured.NestedInt64(created.Object, "spec", "sails"); sails != 3 || created.GetAPIVersion() != "example.com/v1beta1" {
		t.Errorf("got %v", created)
	}
	if len(warned) != 1 || warned[0] != "example.com/v1beta1 Ship is deprecated; use example.com/v1 Ship" {
		t.Errorf("warned %q", warned)
	}
	if e := <-w.ResultChan(); e.Object.(*unstructured.Unstructured).GetAPIVersion() != "example.com/v1" {
		t.Errorf("watched %v", e)
	}
	read, err := v1.Get(ctx, "a", metav1.GetOptions{})
	must(t, err)
	if read.GetAPIVersion() != "example.com/v1" {
		t.Errorf("got %v", read)
	}
	must(t, unstructured.SetNestedField(read.Object, "sea", "status", "at"))
	read, err = v1.UpdateStatus(ctx, read, metav1.UpdateOptions{})
	must(t, err)
	if at, _, _ := unstructured.NestedString(read.Object, "status", "at"); at != "sea" {
		t.Errorf("got %v", read)
	}
	_, err = v1.Patch(ctx, "a", types.MergePatchType, []byte(`{"spec":{"sails":"x"}}`), metav1.PatchOptions{})
	rejected(t, err, "spec.sails: Invalid value")
	_, err = v1.Patch(ctx, "a", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("got %v", err)
	}
	_, err = v1.Apply(ctx, "b", ship("v1", "b", map[string]any{"sails": int64(2)}), metav1.ApplyOptions{FieldManager: "m"})
	must(t, err)
	list, err := v1beta1.List(ctx, metav1.ListOptions{})
	must(t, err)
	if len(list.Items) != 3 || list.Items[2].GetName() != "seed" || list.Items[0].GetAPIVersion() != "example.com/v1beta1" {
		t.Errorf("listed %v", list.Items)
	}
	must(t, v1.Delete(ctx, "a", metav1.DeleteOptions{}))
	must(t, v1.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=b"}))
	list, err = v1.List(ctx, metav1.ListOptions{})
	must(t, err)
	if len(list.Items) != 1 {
		t.Errorf("listed %v", list.Items)
	}
	pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": "default"}}}
	_, err = c.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace("default").Create(ctx, pod, metav1.CreateOptions{})
	must(t, err) // handled by the dynamic client itself
}

func TestUndecided(t *testing.T) {
	t.Parallel()
	f := &failing{TB: t}
	c := newDynamic(f, fakeclient.Config{})
	_, err := c.Resource(ships(t, "v1")).Create(t.Context(), ship("v1", "a", map[string]any{"text": strings.Repeat("x", 100_000)}), metav1.CreateOptions{})
	if !apierrors.IsTimeout(err) || len(f.failures) != 1 || !strings.Contains(f.failures[0], "undecided: ") {
		t.Errorf("got %v, %.300q", err, f.failures)
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	c := newDynamic(t, fakeclient.Config{})
	for _, version := range []string{"v2", "v1"} {
		_, err := c.Resource(ships(t, version)).Create(t.Context(), ship(version, "a", nil), metav1.CreateOptions{}, "nothing")
		if !apierrors.IsNotFound(err) {
			t.Errorf("%s: got %v", version, err)
		}
	}
	cfg := fakeclient.Config{Scheme: newScheme(t)}
	typed := cfg.NewClientBuilder(t, celadontest.New(t, crontabs)).Build()
	obj := newCronTab("a")
	obj.Namespace = ""
	if err := typed.Create(t.Context(), obj); err == nil || err.Error() != "an empty namespace may not be set during creation" {
		t.Errorf("got %v", err)
	}
}
