package fakeclient_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/celadontest/fakeclient"
)

// As in a server, objects of all namespaces can be listed, but not deleted.
func TestCollections(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newClient(t, newCronTab("a"))
	if err := c.DeleteAllOf(ctx, &CronTab{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want not found", err)
	}
	var list CronTabList
	must(t, c.List(ctx, &list))
	if len(list.Items) != 1 {
		t.Errorf("got %v", list.Items)
	}
	must(t, c.DeleteAllOf(ctx, &CronTab{}, client.InNamespace("default")))
	must(t, c.List(ctx, &list))
	if len(list.Items) != 0 {
		t.Errorf("got %v", list.Items)
	}

	ctx, d := t.Context(), newDynamic(t, fakeclient.Config{}, ship("v1", "a", map[string]any{"sails": int64(1)}), ship("v1", "b", map[string]any{"sails": int64(2)}))
	all := d.Resource(ships(t, "v1"))
	before, err := all.List(ctx, metav1.ListOptions{})
	must(t, err)
	w, err := all.Watch(ctx, metav1.ListOptions{ResourceVersion: before.GetResourceVersion()})
	must(t, err)
	defer w.Stop()
	for _, version := range []string{"v2", "v1"} {
		err := d.Resource(ships(t, version)).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "spec.text=a"})
		if version == "v2" && !apierrors.IsNotFound(err) || version == "v1" && (!apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "field label not supported: spec.text")) {
			t.Errorf("%s: got %v", version, err)
		}
	}
	must(t, all.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "spec.sails=1"}))
	if e := <-w.ResultChan(); e.Type != "DELETED" {
		t.Errorf("watched %v", e)
	}
	left, err := all.List(ctx, metav1.ListOptions{})
	must(t, err)
	if len(left.Items) != 1 || left.Items[0].GetName() != "b" {
		t.Errorf("listed %v", left.Items)
	}
}

func TestReadVersions(t *testing.T) {
	t.Parallel()
	c := newDynamic(t, fakeclient.Config{}, ship("v1", "a", map[string]any{})).Resource(ships(t, "v2"))
	if _, err := c.Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

func TestWatchStopped(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	synctest.Test(t, func(t *testing.T) {
		w, err := c.Watch(t.Context(), &CronTabList{})
		must(t, err)
		must(t, c.Create(t.Context(), newCronTab("a")))
		synctest.Wait()
		w.Stop()
		w.Stop()
	})
}

func TestDynamicOptions(t *testing.T) {
	t.Parallel()
	c := newDynamic(t, fakeclient.Config{}).Resource(ships(t, "v1"))
	_, err := c.Create(t.Context(), ship("v1", "a", map[string]any{}), metav1.CreateOptions{DryRun: []string{"yes"}})
	rejected(t, err, `dryRun: Unsupported value: ["yes"]`)
}

func TestSchemeOfBuilder(t *testing.T) {
	t.Parallel()
	c := fakeclient.NewClientBuilder(t, celadontest.New(t, crontabs)).WithScheme(newScheme(t)).Build()
	err := c.Create(t.Context(), newCronTab("a"))
	if err == nil || !strings.Contains(err.Error(), "set the scheme in Config, and do not call WithScheme") {
		t.Errorf("got %v", err)
	}
}

type writing func()

func (w writing) HandleWarningHeader(int, string, string) { w() }

func TestWarningWrites(t *testing.T) {
	t.Parallel()
	done := make(chan error, 1)
	var c client.Client
	cfg := fakeclient.Config{Scheme: newScheme(t), FieldValidation: "Warn", Warnings: writing(func() { done <- c.Create(t.Context(), newCronTab("b")) })}
	c = cfg.NewClientBuilder(t, celadontest.New(t, crontabs)).Build()
	obj := newCronTab("a")
	obj.Spec.Unknown = "x"
	go c.Create(t.Context(), obj)
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(5 * time.Minute):
		t.Fatal("the write in the handler waits for the one that warned")
	}
}
