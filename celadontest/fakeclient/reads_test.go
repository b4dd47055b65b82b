package fakeclient_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/celadontest/fakeclient"
)

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

func TestSeeds(t *testing.T) {
	t.Parallel()
	good, bad := newCronTab("good"), newCronTab("bad")
	good.Status.Phase, good.UID, good.Generation = "Running", "u", 7
	bad.Spec.Schedule, bad.Spec.Unknown = "now", "x"
	for _, meant := range []bool{false, true} {
		f := &failing{TB: t}
		cfg := fakeclient.Config{Scheme: newScheme(t), FieldValidation: "Ignore", InvalidSeeds: meant}
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
		if obj.Spec.MaxReplicas != 10 || obj.Spec.Unknown != "" || obj.UID == "" { // as a server reads it
			t.Errorf("got %+v", obj)
		}
		obj.Labels = map[string]string{"a": "b"}
		must(t, c.Update(t.Context(), &obj)) // unchanged values are not validated again
	}
	seed := newCronTab("seed")
	c := newClient(t, seed)
	seed.Spec.Schedule = "0 5 * * *"
	must(t, c.Update(t.Context(), seed)) // with the seed's own resourceVersion
}

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

func TestIndexes(t *testing.T) {
	t.Parallel()
	cfg := fakeclient.Config{Scheme: newScheme(t)}
	c := cfg.NewClientBuilder(t, celadontest.New(t, crontabs)).WithObjects(newCronTab("a"), newCronTab("b")).
		WithIndex(&CronTab{}, "name", func(obj client.Object) []string { return []string{obj.GetName()} }).Build()
	var list CronTabList
	must(t, c.List(t.Context(), &list, client.MatchingFields{"name": "b"}))
	if len(list.Items) != 1 || list.Items[0].Name != "b" {
		t.Errorf("got %+v", list.Items)
	}
	untyped := &unstructured.UnstructuredList{}
	untyped.SetGroupVersionKind(groupVersion.WithKind("CronTabList"))
	must(t, c.List(t.Context(), untyped))
	if len(untyped.Items) != 2 {
		t.Errorf("got %+v", untyped.Items)
	}
}
