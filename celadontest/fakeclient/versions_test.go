package fakeclient_test

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/celadontest/fakeclient"
)

func TestDeprecated(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	const old = "example.com/v1beta1 Ship is deprecated; use example.com/v1 Ship"
	var warned warnings
	c := newDynamic(t, fakeclient.Config{Warnings: &warned}, ship("v1beta1", "seed", map[string]any{}))
	if len(warned) != 0 {
		t.Errorf("a seed warns: %q", warned)
	}
	r := c.Resource(ships(t, "v1beta1"))
	for name, do := range map[string]func() error{
		"get":            func() error { _, err := r.Get(ctx, "seed", metav1.GetOptions{}); return err },
		"list":           func() error { _, err := r.List(ctx, metav1.ListOptions{}); return err },
		"delete nothing": func() error { return r.Delete(ctx, "none", metav1.DeleteOptions{}) },
		"delete all of none": func() error {
			return r.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=none"})
		},
		"no JSON": func() error {
			_, err := r.Patch(ctx, "seed", types.JSONPatchType, []byte("x"), metav1.PatchOptions{})
			return err
		},
		"no subresource": func() error { _, err := r.Get(ctx, "seed", metav1.GetOptions{}, "scale"); return err },
		"write": func() error {
			_, err := r.Create(ctx, ship("v1beta1", "a", map[string]any{}), metav1.CreateOptions{})
			return err
		},
		"stale": func() error {
			stale := ship("v1beta1", "seed", map[string]any{})
			stale.SetResourceVersion("77")
			_, err := r.Update(ctx, stale, metav1.UpdateOptions{})
			return err
		},
	} {
		warned = nil
		err := do()
		if !slices.Equal(warned, warnings{old}) {
			t.Errorf("%s (%v): warned %q", name, err, warned)
		}
	}
	warned = nil
	if _, err := c.Resource(ships(t, "v1")).Get(ctx, "seed", metav1.GetOptions{}); err != nil || len(warned) != 0 {
		t.Errorf("v1: %v, warned %q", err, warned)
	}
}

// A write in another version takes fields of the status from their manager, although it does not
// change the status.
func TestStatusOfAnotherVersion(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newDynamic(t, fakeclient.Config{})
	_, err := c.Resource(ships(t, "v1")).Create(ctx, ship("v1", "a", map[string]any{}), metav1.CreateOptions{})
	must(t, err)
	patch := func(version, manager, data string, sub ...string) *unstructured.Unstructured {
		t.Helper()
		obj, err := c.Resource(ships(t, version)).Patch(ctx, "a", types.MergePatchType, []byte(data), metav1.PatchOptions{FieldManager: manager}, sub...)
		must(t, err)
		return obj
	}
	patch("v1", "pilot", `{"status":{"at":"sea"}}`, "status")
	for _, tt := range []struct {
		version string
		left    bool
	}{{"v1", true}, {"v1beta1", false}} {
		obj := patch(tt.version, "owner", `{"spec":{"sails":2},"status":{"at":"home"}}`)
		if at, _, _ := unstructured.NestedString(obj.Object, "status", "at"); at != "sea" {
			t.Errorf("%s: the status is written: %v", tt.version, obj)
		}
		left := slices.ContainsFunc(obj.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
			return e.Manager == "pilot" && e.FieldsV1.GetRawString() == `{"f:status":{".":{},"f:at":{}}}`
		})
		if left != tt.left {
			t.Errorf("%s: got %v", tt.version, obj.GetManagedFields())
		}
	}
}

func TestDefaultOfStorage(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newDynamic(t, fakeclient.Config{})
	v1, v1beta1 := c.Resource(ships(t, "v1")), c.Resource(ships(t, "v1beta1"))
	created, err := v1beta1.Create(ctx, ship("v1beta1", "a", map[string]any{"rig": "junk"}), metav1.CreateOptions{})
	must(t, err)
	if _, ok, _ := unstructured.NestedString(created.Object, "spec", "rig"); ok {
		t.Errorf("the stored object has fields that the storage version does not declare: %v", created)
	}
	for i, want := range []bool{true, false} {
		was, err := v1.Get(ctx, "a", metav1.GetOptions{})
		must(t, err)
		now, err := v1.Update(ctx, was, metav1.UpdateOptions{FieldManager: "m"})
		must(t, err)
		if flag, _, _ := unstructured.NestedString(now.Object, "spec", "flag"); flag != "white" {
			t.Errorf("got %v", now)
		}
		if written := now.GetResourceVersion() != was.GetResourceVersion(); written != want {
			t.Errorf("update %d: written is %v, want %v", i, written, want)
		}
	}
}

func TestBrokenRules(t *testing.T) {
	t.Parallel()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	must(t, yaml.Unmarshal([]byte(`{metadata: {name: ships.example.com}, spec: {group: example.com, scope: Cluster, names: {kind: Ship, listKind: ShipList, plural: ships},
		versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-validations: [{rule: self.}]}}}]}}`), crd))
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{ships(t, "v1"): "ShipList"})
	fakeclient.Config{}.React(t, celadontest.New(t, crd), &client.Fake)
	list, err := client.Resource(ships(t, "v1")).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	if len(list.Items) != 0 {
		t.Errorf("got %v", list.Items)
	}
}
