package builtin

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

type object = map[string]any

func kindOf(t *testing.T, c *Catalog, gvk schema.GroupVersionKind) Kind {
	t.Helper()
	for _, k := range c.Kinds() {
		if k.GroupVersionKind == gvk {
			return k
		}
	}
	t.Fatalf("no kind %v", gvk)
	return Kind{}
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	c, err := Newest()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name              string
		kind              schema.GroupVersionKind
		object, old, want object
	}{
		{"required fields of a status", schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}, object{"kind": "StatefulSet"}, nil, object{"kind": "StatefulSet", "status": object{"replicas": int64(0)}}},
		{
			"several required fields", schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "DaemonSet"}, object{}, nil,
			object{"status": object{"currentNumberScheduled": int64(0), "desiredNumberScheduled": int64(0), "numberMisscheduled": int64(0), "numberReady": int64(0)}},
		},
		{"status of a client", schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, object{"status": object{"phase": "Running"}}, nil, object{"status": object{}}},
		{"update", schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, object{"status": object{"phase": "Failed"}}, object{"status": object{"phase": "Running"}}, object{"status": object{"phase": "Running"}}},
		{"no object", schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, nil, nil, nil},
		{"no status", schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, object{"data": object{"a": "b"}}, nil, object{"data": object{"a": "b"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, c.Prepare(kindOf(t, c, test.kind), test.object, test.old)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestSetGeneration(t *testing.T) {
	t.Parallel()
	deployment, service := schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Kind: "Service"}
	old := object{"metadata": object{"generation": int64(3)}, "spec": object{"replicas": int64(1)}}
	for _, test := range []struct {
		name   string
		kind   schema.GroupKind
		object object
		old    object
		want   any
	}{
		{"create", deployment, object{}, nil, int64(1)},
		{"same spec", deployment, object{"spec": object{"replicas": int64(1)}}, old, int64(3)},
		{"other spec", deployment, object{"spec": object{"replicas": int64(2)}}, old, int64(4)},
		{"kind without generation", service, object{}, nil, nil},
		{"old object without generation", deployment, object{}, object{}, nil},
	} {
		SetGeneration(test.kind, test.object, test.old)
		meta, _ := test.object["metadata"].(object)
		if meta["generation"] != test.want {
			t.Errorf("%s: got %v, want %v", test.name, meta["generation"], test.want)
		}
	}
}

func TestSetConditionalDefaults(t *testing.T) {
	t.Parallel()
	container := func(image string) object { return object{"name": "c", "image": image} }
	given := object{"spec": object{"jobTemplate": object{"spec": object{"template": object{"spec": object{
		"serviceAccountName": "robot", "containers": []any{container("nginx"), object{"image": "nginx", "imagePullPolicy": "Never", "resources": object{"limits": object{"cpu": "1"}}}},
	}}}}}}
	want := object{"spec": object{"jobTemplate": object{"spec": object{"template": object{"spec": object{
		"serviceAccountName": "robot", "serviceAccount": "robot",
		"containers": []any{object{"name": "c", "image": "nginx", "imagePullPolicy": "Always"}, object{"image": "nginx", "imagePullPolicy": "Never", "resources": object{"limits": object{"cpu": "1"}}}},
	}}}}}}
	if diff := cmp.Diff(want, SetConditionalDefaults(schema.GroupKind{Group: "batch", Kind: "CronJob"}, given)); diff != "" {
		t.Errorf("CronJob (-want +got)\n%s", diff)
	}
	pod := object{"spec": object{"containers": []any{object{"image": "a:1", "resources": object{"limits": object{"cpu": "1", "memory": "1Gi"}, "requests": object{"cpu": "2"}}}}}}
	want = object{"spec": object{"containers": []any{object{"image": "a:1", "imagePullPolicy": "IfNotPresent", "resources": object{"limits": object{"cpu": "1", "memory": "1Gi"}, "requests": object{"cpu": "2", "memory": "1Gi"}}}}}}
	if diff := cmp.Diff(want, SetConditionalDefaults(schema.GroupKind{Kind: "Pod"}, pod)); diff != "" {
		t.Errorf("Pod (-want +got)\n%s", diff)
	}
	template := object{"metadata": object{"labels": object{"a": "b"}}}
	job := object{"metadata": object{"name": "j"}, "spec": object{"template": template}}
	want = object{"metadata": object{"name": "j", "labels": object{"a": "b"}}, "spec": object{"template": template}}
	if diff := cmp.Diff(want, SetConditionalDefaults(schema.GroupKind{Group: "batch", Kind: "Job"}, job)); diff != "" {
		t.Errorf("Job (-want +got)\n%s", diff)
	}
}

func TestPullPolicy(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		"nginx": "Always", "nginx:latest": "Always", "a.example.com:80/b/nginx": "Always", "a/nginx:latest@sha256:00": "Always",
		"nginx:1": "IfNotPresent", "nginx@sha256:00": "IfNotPresent", "a.example.com:80/nginx:v1": "IfNotPresent", "": "IfNotPresent",
	} {
		if got := pullPolicy(image); got != want {
			t.Errorf("%q: got %s, want %s", image, got, want)
		}
	}
}
