package fakeclient_test

import (
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/celadon-cel/celadon/celadontest/fakeclient"
)

func TestDynamicBody(t *testing.T) {
	t.Parallel()
	const unrecognized = `the object provided is unrecognized (must be of type Ship): Object 'Kind' is missing in '{"apiVersion":"example.com/v1","metadata":{"name":"a"},"spec":{}}' ({"apiVersion":"example.com/v1" ...)`
	c := newDynamic(t, fakeclient.Config{}, ship("v1", "seed", map[string]any{})).Resource(ships(t, "v1"))
	for name, test := range map[string]struct {
		change func(*unstructured.Unstructured)
		code   int32
		want   string
	}{
		"another kind":    {func(u *unstructured.Unstructured) { u.SetKind("Boat") }, 422, `Boat.example.com "a" is invalid: kind: Invalid value: "Boat": must be Ship`},
		"no kind":         {func(u *unstructured.Unstructured) { delete(u.Object, "kind") }, 400, unrecognized},
		"another version": {func(u *unstructured.Unstructured) { u.SetAPIVersion("example.com/v1beta1") }, 400, "the API version in the data (example.com/v1beta1) does not match the expected API version (example.com/v1)"},
		"another group":   {func(u *unstructured.Unstructured) { u.SetAPIVersion("a.io/v1") }, 400, "the API version in the data (a.io/v1) does not match the expected API version (example.com/v1)"},
	} {
		obj := ship("v1", "a", map[string]any{})
		test.change(obj)
		_, err := c.Create(t.Context(), obj, metav1.CreateOptions{})
		if status, ok := err.(apierrors.APIStatus); !ok || status.Status().Code != test.code || err.Error() != test.want {
			t.Errorf("%s: got %v, want %d: %s", name, err, test.code, test.want)
		}
	}
	_, err := c.Patch(t.Context(), "seed", types.MergePatchType, []byte(`{"kind":"Boat"}`), metav1.PatchOptions{})
	rejected(t, err, "must be Ship")
}

func TestDynamicFieldSelector(t *testing.T) {
	t.Parallel()
	c := newDynamic(t, fakeclient.Config{}, ship("v1", "a", map[string]any{}), ship("v1", "b", map[string]any{"sails": int64(7)}))
	for selector, want := range map[string][]string{
		"": {"a", "b"}, "metadata.name=b": {"b"}, "spec.sails=3": {"a"}, "spec.sails!=3": {"b"}, "spec.sails=7,metadata.name=a": nil,
	} {
		list, err := c.Resource(ships(t, "v1")).List(t.Context(), metav1.ListOptions{FieldSelector: selector})
		must(t, err)
		var names []string
		for _, item := range list.Items {
			names = append(names, item.GetName())
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: got %v, want %v", selector, names, want)
		}
	}
	for version, selector := range map[string]string{"v1": "spec.flag=white", "v1beta1": "spec.sails=3"} {
		if _, err := c.Resource(ships(t, version)).List(t.Context(), metav1.ListOptions{FieldSelector: selector}); !apierrors.IsBadRequest(err) {
			t.Errorf("%s in %s: got %v", selector, version, err)
		}
	}
}

func TestDynamicWatchSince(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	changes := []string{"ADDED a", "MODIFIED a", "DELETED a"}
	for _, since := range []bool{true, false} {
		c := newDynamic(t, fakeclient.Config{}, ship("v1", "seed", map[string]any{})).Resource(ships(t, "v1"))
		change := func() {
			t.Helper()
			obj, err := c.Create(ctx, ship("v1", "a", map[string]any{}), metav1.CreateOptions{})
			must(t, err)
			must(t, unstructured.SetNestedField(obj.Object, int64(1), "spec", "sails"))
			_, err = c.Update(ctx, obj, metav1.UpdateOptions{})
			must(t, err)
			must(t, c.Delete(ctx, "a", metav1.DeleteOptions{}))
		}
		list, err := c.List(ctx, metav1.ListOptions{})
		must(t, err)
		change()
		options, want := metav1.ListOptions{}, slices.Concat([]string{"ADDED seed"}, changes)
		if since {
			options.ResourceVersion, want = list.GetResourceVersion(), slices.Concat(changes, changes)
		}
		w, err := c.Watch(ctx, options)
		must(t, err)
		change()
		for i, want := range want {
			e := <-w.ResultChan()
			if got := fmt.Sprint(e.Type, " ", e.Object.(*unstructured.Unstructured).GetName()); got != want {
				t.Errorf("event %d since %q: got %s, want %s", i, options.ResourceVersion, got, want)
			}
		}
		w.Stop()
		if _, open := <-w.ResultChan(); open {
			t.Errorf("since %q: more events", options.ResourceVersion)
		}
		if _, err := c.Watch(ctx, metav1.ListOptions{ResourceVersion: "x"}); !apierrors.IsBadRequest(err) {
			t.Errorf("got %v", err)
		}
	}
}

func TestDynamicWatchSelector(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newDynamic(t, fakeclient.Config{}, ship("v1", "seed", map[string]any{"sails": int64(7)})).Resource(ships(t, "v1"))
	list, err := c.List(ctx, metav1.ListOptions{})
	must(t, err)
	w, err := c.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion(), FieldSelector: "spec.sails=7", LabelSelector: "!hidden"})
	must(t, err)
	patch := func(name, data string) {
		t.Helper()
		_, err := c.Patch(ctx, name, types.MergePatchType, []byte(data), metav1.PatchOptions{})
		must(t, err)
	}
	_, err = c.Create(ctx, ship("v1", "a", map[string]any{}), metav1.CreateOptions{})
	must(t, err)
	patch("a", `{"spec":{"sails":7}}`)
	patch("a", `{"spec":{"flag":"red"}}`)
	patch("seed", `{"metadata":{"labels":{"hidden":""}}}`)
	patch("seed", `{"spec":{"flag":"red"}}`)
	must(t, c.Delete(ctx, "seed", metav1.DeleteOptions{}))
	must(t, c.Delete(ctx, "a", metav1.DeleteOptions{}))
	for _, want := range []string{"ADDED a", "MODIFIED a", "DELETED seed", "DELETED a"} {
		e := <-w.ResultChan()
		if got := fmt.Sprint(e.Type, " ", e.Object.(*unstructured.Unstructured).GetName()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	w.Stop()
	if _, err := c.Watch(ctx, metav1.ListOptions{FieldSelector: "spec.flag=red"}); !apierrors.IsBadRequest(err) {
		t.Errorf("got %v", err)
	}
}

func TestDynamicRoutes(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newDynamic(t, fakeclient.Config{}, ship("v1", "seed", map[string]any{})).Resource(ships(t, "v1"))
	wrong := c.Namespace("n") // of a cluster-scoped kind
	for name, do := range map[string]func() error{
		"create": func() error { _, err := wrong.Create(ctx, ship("v1", "a", nil), metav1.CreateOptions{}); return err },
		"get":    func() error { _, err := wrong.Get(ctx, "seed", metav1.GetOptions{}); return err },
		"list":   func() error { _, err := wrong.List(ctx, metav1.ListOptions{}); return err },
		"watch":  func() error { _, err := wrong.Watch(ctx, metav1.ListOptions{}); return err },
		"delete": func() error { return wrong.Delete(ctx, "seed", metav1.DeleteOptions{}) },
		"scale":  func() error { _, err := c.Get(ctx, "seed", metav1.GetOptions{}, "scale"); return err },
	} {
		if err := do(); !apierrors.IsNotFound(err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := c.Delete(ctx, "seed", metav1.DeleteOptions{}, "status"); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Create(ctx, &unstructured.Unstructured{}, metav1.CreateOptions{}); !apierrors.IsBadRequest(err) {
		t.Errorf("no object: got %v", err)
	}
}
