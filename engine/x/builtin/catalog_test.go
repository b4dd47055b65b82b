package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/builtin"
	valueschema "github.com/celadon-cel/celadon/engine/x/schema"
	"github.com/celadon-cel/celadon/engine/x/structural"
)

// maxCompressed limits the bytes of schemas that a program embeds.
const maxCompressed = 40_000

func newest(t testing.TB) *builtin.Catalog {
	t.Helper()
	c, err := builtin.Newest()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSize(t *testing.T) {
	t.Parallel()
	info, err := os.Stat("schemas.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxCompressed {
		t.Errorf("%d bytes: want at most %d", info.Size(), maxCompressed)
	}
}

func TestSchemasCompile(t *testing.T) {
	t.Parallel()
	c := newest(t)
	kinds := c.Kinds()
	if len(kinds) < 200 {
		t.Errorf("%d kinds: want at least 200", len(kinds))
	}
	for _, k := range kinds {
		t.Run(k.GroupVersionKind.String(), func(t *testing.T) {
			t.Parallel()
			props, err := c.Schema(k.GroupVersionKind)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := engine.CompileSchema(props, engine.Config{}); err != nil {
				t.Errorf("CompileSchema: %v", err)
			}
			props, node, err := structural.Of(&apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := valueschema.Compile(props, node, 37); err != nil {
				t.Errorf("schema.Compile: %v", err)
			}
		})
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	kinds := map[schema.GroupVersionKind]builtin.Kind{}
	defaulted, resources := 0, 0
	for _, k := range newest(t).Kinds() {
		kinds[k.GroupVersionKind] = k
		if k.Defaulted {
			defaulted++
		}
		if k.Resource != "" {
			resources++
		}
	}
	if defaulted != 20 {
		t.Errorf("%d kinds have defaults: want 20", defaulted)
	}
	if resources < 80 {
		t.Errorf("%d kinds have a resource: want at least 80", resources)
	}
	for _, test := range []struct {
		kind         schema.GroupVersionKind
		resource     string
		namespaced   bool
		subresources map[string]string // name to kind
	}{
		{schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "pods", true, map[string]string{"exec": "PodExecOptions", "ephemeralcontainers": "Pod", "eviction": "Eviction"}},
		{schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "namespaces", false, map[string]string{"finalize": "Namespace", "status": "Namespace"}},
		{schema.GroupVersionKind{Version: "v1", Kind: "Node"}, "nodes", false, map[string]string{"proxy": "NodeProxyOptions"}},
		{schema.GroupVersionKind{Version: "v1", Kind: "PodList"}, "", false, nil},
		{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "deployments", true, map[string]string{"scale": "Scale", "status": "Deployment"}},
		{schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}, "ingresses", true, map[string]string{"status": "Ingress"}},
		{schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}, "clusterroles", false, nil},
		{schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, "customresourcedefinitions", false, nil},
	} {
		k, ok := kinds[test.kind]
		if !ok || k.Resource != test.resource || k.Namespaced != test.namespaced {
			t.Errorf("%s: got %+v", test.kind, k)
		}
		for name, want := range test.subresources {
			got := ""
			for _, s := range k.Subresources {
				if s.Name == name {
					got = s.Kind.Kind
				}
			}
			if got != want {
				t.Errorf("%s/%s: got kind %q, want %q", test.resource, name, got, want)
			}
		}
	}
}

func TestDeployment(t *testing.T) {
	t.Parallel()
	props, err := newest(t).Schema(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	if err != nil {
		t.Fatal(err)
	}
	props.XEmbeddedResource = true
	s, err := engine.CompileSchema(props, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Validate(context.Background(), nil, map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"replicas": "3", "replica": int64(3), "selector": map[string]any{},
			"template": map[string]any{"spec": map[string]any{"containers": []any{
				map[string]any{"name": "web", "resources": map[string]any{"limits": map[string]any{"cpu": int64(1), "memory": "1Gi"}}},
			}}},
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Unknown) != 1 || res.Unknown[0] != "spec.replica" {
		t.Errorf("unknown fields: got %v, want spec.replica", res.Unknown)
	}
	if len(res.Errors) != 1 || res.Errors[0].Field != "spec.replicas" {
		t.Errorf("errors: got %v, want one for spec.replicas", res.Errors)
	}
	spec := res.Value.(map[string]any)["spec"].(map[string]any)
	if _, ok := spec["template"].(map[string]any)["metadata"]; !ok {
		t.Error("template.metadata is missing")
	}
	if got := spec["revisionHistoryLimit"]; got != int64(10) {
		t.Errorf("revisionHistoryLimit: got %v, want 10", got)
	}
	if got := spec["strategy"].(map[string]any)["type"]; got != "RollingUpdate" {
		t.Errorf("strategy.type: got %v, want RollingUpdate", got)
	}
	pod := spec["template"].(map[string]any)["spec"].(map[string]any)
	if got := pod["containers"].([]any)[0].(map[string]any)["terminationMessagePath"]; got != "/dev/termination-log" {
		t.Errorf("terminationMessagePath: got %v, want /dev/termination-log", got)
	}
}

func TestRecursion(t *testing.T) {
	t.Parallel()
	props, err := newest(t).Schema(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err != nil {
		t.Fatal(err)
	}
	version := props.Properties["spec"].Properties["versions"].Items.Schema
	whole := version.Properties["schema"].Properties["openAPIV3Schema"]
	if open := whole.Properties["not"].XPreserveUnknownFields; open == nil || !*open {
		t.Error("a schema in a schema does not accept any fields")
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	meta, err := newest(t).Metadata()
	if err != nil {
		t.Fatal(err)
	}
	if labels := meta.Properties["labels"]; labels.AdditionalProperties == nil || labels.AdditionalProperties.Schema.Type != "string" {
		t.Errorf("labels: got %+v", labels)
	}
	if _, err := engine.CompileSchema(meta, engine.Config{}); err != nil {
		t.Error(err)
	}
}

func TestUnknownKind(t *testing.T) {
	t.Parallel()
	var unknown *builtin.UnknownKindError
	if _, err := newest(t).Schema(schema.GroupVersionKind{Version: "v2", Kind: "Pod"}); !errors.As(err, &unknown) {
		t.Errorf("got %v, want an UnknownKindError", err)
	}
}

// TestOwned checks that concurrent callers get schemas that share nothing.
func TestOwned(t *testing.T) {
	t.Parallel()
	c, pod := newest(t), schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			props, err := c.Schema(pod)
			if err != nil {
				t.Error(err)
				return
			}
			spec := props.Properties["spec"]
			spec.Properties["containers"].Items.Schema.Required[0] = "changed"
			delete(spec.Properties, "nodeName")
			c.Kinds()[0].Resource = "changed"
		})
	}
	group.Wait()
	props, err := c.Schema(pod)
	if err != nil {
		t.Fatal(err)
	}
	spec := props.Properties["spec"]
	if _, ok := spec.Properties["nodeName"]; !ok || spec.Properties["containers"].Items.Schema.Required[0] != "name" {
		t.Error("a change of a returned schema is visible to the next caller")
	}
}

func TestParseRejects(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "no gzip"} {
		if _, err := builtin.Parse([]byte(data)); err == nil {
			t.Errorf("%q: got no error", data)
		}
	}
}

func BenchmarkSchema(b *testing.B) {
	c := newest(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Schema(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile("schemas.json.gz")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := builtin.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func Example() {
	kinds, err := builtin.Newest()
	if err != nil {
		panic(err)
	}
	props, err := kinds.Schema(schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"})
	if err != nil {
		panic(err)
	}
	fmt.Println(props.Properties["spec"].Properties["minAvailable"].XIntOrString)
	// Output: true
}
