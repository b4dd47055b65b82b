package fakeclient_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/celadon-cel/celadon/celadontest"
	"github.com/celadon-cel/celadon/celadontest/fakeclient"
)

// A logger records the logs of a test.
type logger struct {
	testing.TB
	mu       sync.Mutex
	logs     []string
	cleanups []func()
}

func (l *logger) Logf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logs = append(l.logs, fmt.Sprintf(format, args...))
}

func (l *logger) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }

// taken returns the logs since the last call.
func (l *logger) taken() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.Join(l.logs, "\n")
	l.logs = nil
	return text
}

// wantLogs checks that each text is in the logs, and that there are no logs if there are no texts.
func (l *logger) wantLogs(what string, texts ...string) {
	l.Helper()
	logs := l.taken()
	if len(texts) == 0 && logs != "" {
		l.Errorf("%s: logged %s", what, logs)
	}
	for _, text := range texts {
		if !strings.Contains(logs, text) {
			l.Errorf("%s: logged %q, want %q", what, logs, text)
		}
	}
}

// TestReportOnly checks that the client behaves like the fake client, and logs each write that a server
// would reject.
func TestReportOnly(t *testing.T) {
	t.Parallel()
	ctx, l := t.Context(), &logger{TB: t}
	good, bad := newCronTab("good"), newCronTab("bad")
	bad.Spec.Schedule = "now"
	c := fakeclient.Config{Scheme: newScheme(t), ReportOnly: true}.NewClientBuilder(l, celadontest.New(t, crontabs)).
		WithObjects(good, bad).WithStatusSubresource(&CronTab{}).Build()

	read := &CronTab{}
	must(t, c.Get(ctx, client.ObjectKeyFromObject(good), read))
	l.wantLogs("seeds", `an API server would reject the seed of CronTab "bad"`, "must have five fields")
	if read.Spec.MaxReplicas != 0 || read.UID != "" {
		t.Errorf("got %+v, want what was stored", read)
	}
	must(t, c.Create(ctx, newCronTab("a")))
	l.wantLogs("a good create")
	empty := newCronTab("empty")
	empty.Spec.Schedule = ""
	must(t, c.Create(ctx, empty))
	l.wantLogs("a bad create", `would reject the create of CronTab "empty"`, `spec.schedule: "" is the zero value of the Go field Schedule; clients send it because its JSON tag has no omitempty`)

	must(t, c.Get(ctx, client.ObjectKeyFromObject(good), read))
	read.Labels = map[string]string{"a": "b"}
	must(t, c.Update(ctx, read))
	l.wantLogs("a good update")
	read.Spec.Image = "other"
	must(t, c.Update(ctx, read))
	l.wantLogs("a bad update", `would reject the update of CronTab "good"`, "spec.image: Forbidden: is immutable")
	before := read.DeepCopyObject().(*CronTab)
	read.Spec.Unknown = "x"
	must(t, c.Patch(ctx, read, client.MergeFrom(before)))
	l.wantLogs("a bad patch", `would reject the patch of CronTab "good"`, `unknown field "spec.unknown"`)
	read.Spec.Unknown, read.Status.Phase = "", "no phase"
	must(t, c.Status().Update(ctx, read))
	l.wantLogs("a bad status", `would reject the status update of CronTab "good"`, "status.phase")
	if err := c.Create(ctx, newCronTab("a")); err == nil {
		t.Error("the fake client accepts the object twice")
	}
	must(t, c.Delete(ctx, read))
	l.wantLogs("others")
	for _, end := range l.cleanups {
		end()
	}
	l.wantLogs("the end", "an API server would reject 5 writes and seeds of this test")
}

// TestReportOnlyDynamic is like TestReportOnly, for the dynamic client.
func TestReportOnlyDynamic(t *testing.T) {
	t.Parallel()
	ctx, l := t.Context(), &logger{TB: t}
	lists := map[schema.GroupVersionResource]string{ships(t, "v1"): "ShipList", ships(t, "v1beta1"): "ShipList", {Version: "v1", Resource: "pods"}: "PodList"}
	c := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, ship("v1", "old", map[string]any{"sails": "many"}))
	fakeclient.Config{ReportOnly: true}.React(l, celadontest.New(t, "testdata/ships.yaml"), &c.Fake, ship("v1", "seed", map[string]any{"sails": int64(1)}))
	v1 := c.Resource(ships(t, "v1"))
	list, err := v1.List(ctx, metav1.ListOptions{})
	must(t, err)
	l.wantLogs("seeds", `would reject the seed of Ship "old"`, "spec.sails: Invalid value")
	if len(list.Items) != 2 {
		t.Errorf("listed %v", list.Items)
	}
	created, err := v1.Create(ctx, ship("v1", "a", map[string]any{"mast": "x"}), metav1.CreateOptions{})
	must(t, err)
	l.wantLogs("a bad create", `would reject the create of Ship "a"`, `unknown field "spec.mast"`)
	unstructured.RemoveNestedField(created.Object, "spec", "mast")
	_, err = v1.Update(ctx, created, metav1.UpdateOptions{})
	must(t, err)
	l.wantLogs("a good update")
	_, err = v1.Patch(ctx, "a", types.MergePatchType, []byte(`{"spec":{"sails":"x"}}`), metav1.PatchOptions{})
	must(t, err)
	l.wantLogs("a bad patch", `would reject the patch of Ship "a"`, "spec.sails: Invalid value")
	pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": "default"}}}
	_, err = c.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace("default").Create(ctx, pod, metav1.CreateOptions{})
	must(t, err)
	_, err = v1.Create(ctx, ship("v1", "long", map[string]any{"text": strings.Repeat("x", 100_000)}), metav1.CreateOptions{})
	must(t, err)
	l.wantLogs("undecided", "undecided: ")
	for _, end := range l.cleanups {
		end()
	}
	l.wantLogs("the end", "an API server would reject 3 writes and seeds of this test")
}
