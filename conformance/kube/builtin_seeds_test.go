package kube

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/test/integration/etcd"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/gomod"
)

type seed struct {
	kind   *builtin.Resource
	object map[string]any
	// full has a value in every field, most of them invalid. It is nil if upstream has no such
	// object.
	full map[string]any
	// status is a valid status, or nil.
	status map[string]any
}

// richer has further seeds for kinds with many rules that depend on each other.
var richer = map[string]string{
	"pods": `{"metadata":{"name":"rich"},"spec":{"volumes":[{"name":"data","emptyDir":{}},{"name":"config","configMap":{"name":"c","items":[{"key":"k","path":"p"}]}}],
		"initContainers":[{"name":"init","image":"a:1"}],
		"containers":[{"name":"web","image":"a:1","command":["run"],"env":[{"name":"A","value":"b"},{"name":"N","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
		"ports":[{"name":"http","containerPort":80}],"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2","memory":"1Gi"}},
		"volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"config","mountPath":"/c","readOnly":true}],
		"livenessProbe":{"httpGet":{"path":"/","port":"http"},"periodSeconds":5},"securityContext":{"runAsNonRoot":true,"capabilities":{"drop":["ALL"]}}}],
		"tolerations":[{"key":"a","operator":"Exists","effect":"NoSchedule"}],
		"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}]}}},
		"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a":"b"}}}]}}`,
	"deployments": `{"metadata":{"name":"rich"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":"Exists"}]},
		"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":0}},
		"template":{"metadata":{"labels":{"app":"web"}},"spec":{"volumes":[{"name":"data","emptyDir":{}}],
		"containers":[{"name":"web","image":"a:1","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}},"volumeMounts":[{"name":"data","mountPath":"/data"}]}]}}}}`,
	"services": `{"metadata":{"name":"rich"},"spec":{"type":"NodePort","selector":{"app":"web"},"sessionAffinity":"ClientIP",
		"ports":[{"name":"http","port":80,"targetPort":"http","nodePort":30080},{"name":"dns","port":53,"protocol":"UDP"}]}}`,
	"ingresses": `{"metadata":{"name":"rich"},"spec":{"ingressClassName":"nginx","tls":[{"hosts":["a.example.com"],"secretName":"s"}],"rules":[{"host":"a.example.com",
		"http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"web","port":{"number":80}}}}]}}]}}`,
	"networkpolicies": `{"metadata":{"name":"rich"},"spec":{"podSelector":{"matchLabels":{"a":"b"}},"policyTypes":["Ingress","Egress"],
		"ingress":[{"from":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}}],"ports":[{"port":80,"endPort":90,"protocol":"TCP"}]}],"egress":[{}]}}`,
}

func seeds(t *testing.T, kind *builtin.Resource, data map[schema.GroupVersionResource]etcd.StorageData) (all []seed) {
	t.Helper()
	upstream, ok := data[kind.GroupVersion().WithResource(kind.Name)]
	full := fullObject(t, kind)
	texts := map[string]string{"upstream": upstream.Stub}
	if !ok {
		t.Errorf("%s %s: no valid object is known", kind.GroupVersion(), kind.Name)
		delete(texts, "upstream")
	}
	if text := richer[kind.Name]; text != "" {
		texts["rich"] = text
	}
	for _, name := range []string{"upstream", "rich"} {
		if texts[name] == "" {
			continue
		}
		object, err := engine.Decode([]byte(texts[name]))
		if err != nil {
			t.Fatalf("%s: %v", kind.Name, err)
		}
		object["apiVersion"], object["kind"] = kind.GroupVersion().String(), kind.Kind
		s := seed{kind: kind, object: object, full: full}
		if status, err := engine.Decode([]byte(upstream.StatusStub)); err == nil {
			s.status, _ = status["status"].(map[string]any)
		}
		all = append(all, s)
	}
	return all
}

// fullObject returns the object of a kind from upstream's tests of serialization, or nil.
func fullObject(t *testing.T, kind *builtin.Resource) map[string]any {
	t.Helper()
	group := kind.Group
	switch group {
	case "apiextensions.k8s.io":
		return nil // not in k8s.io/api
	case "":
		group = "core"
	}
	name := group + "." + kind.Version + "." + kind.Kind + ".json"
	data, err := os.ReadFile(filepath.Join(gomod.Dir(t, "k8s.io/api"), "testdata", "HEAD", name))
	if err != nil {
		t.Errorf("no full object: %v", err)
		return nil
	}
	object, err := engine.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// builtinExamples returns the manifests in the module of Kubernetes, and the full objects of all versions.
func builtinExamples(t *testing.T, kinds map[schema.GroupVersionKind]*builtin.Resource) (all []*builtinWrite) {
	t.Helper()
	roots := []string{gomod.Dir(t, "k8s.io/kubernetes"), filepath.Join(gomod.Dir(t, "k8s.io/api"), "testdata", "HEAD")}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			ext := filepath.Ext(path)
			if err != nil || d.IsDir() || ext != ".yaml" && ext != ".yml" && ext != ".json" || strings.HasSuffix(root, "HEAD") && ext != ".json" {
				return err
			}
			info, err := d.Info()
			if err != nil || info.Size() > 1<<20 {
				return err
			}
			data, err := os.ReadFile(path)
			rel, _ := filepath.Rel(root, path)
			for _, doc := range builtinDocuments(data) {
				if w := exampleWrite(kinds, doc); w != nil {
					w.title = rel
					all = append(all, w)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func exampleWrite(kinds map[schema.GroupVersionKind]*builtin.Resource, doc map[string]any) *builtinWrite {
	kind, ok := kinds[schema.FromAPIVersionAndKind(str(doc, "apiVersion"), str(doc, "kind"))]
	if !ok {
		return nil
	}
	w := &builtinWrite{kind: kind, raw: []byte(encodedAny(doc)), namespace: str(doc, "metadata", "namespace")}
	if w.namespace == "" || !kind.Namespaced() {
		w.namespace = builtinNamespace
	}
	return w
}

// builtinDocuments returns the objects in a file, and the items of lists. It skips documents that are not YAML, such
// as templates.
func builtinDocuments(data []byte) (docs []map[string]any) {
	reader := yamlstream.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		text, err := reader.Read()
		if err != nil {
			return docs
		}
		converted, err := yaml.YAMLToJSON(text)
		if err != nil {
			continue
		}
		doc, err := engine.Decode(converted)
		if err != nil {
			continue
		}
		items, isList := doc["items"].([]any)
		if !isList {
			docs = append(docs, doc)
		}
		for _, item := range items {
			if doc, ok := item.(map[string]any); ok {
				docs = append(docs, doc)
			}
		}
	}
}

// few returns every n-th mutant, so that at most limit remain.
func few(all []mutant, limit, offset int) []mutant {
	if len(all) <= limit {
		return all
	}
	out := make([]mutant, 0, limit)
	for i := range limit {
		out = append(out, all[(i*len(all)/limit+offset)%len(all)])
	}
	return out
}

func below(fields ...string) func(route) bool {
	return func(r route) bool { return slices.Contains(fields, r[0].(string)) }
}

func outside(fields ...string) func(route) bool {
	return func(r route) bool { return !slices.Contains(fields, r[0].(string)) }
}

func (w *builtinWrite) in(t *testing.T, namespace string) *builtinWrite {
	t.Helper()
	moved := *w
	if moved.namespace = namespace; !w.kind.Namespaced() {
		return &moved
	}
	object, err := engine.Decode(w.raw)
	if err != nil {
		t.Fatal(err)
	}
	if meta, ok := object["metadata"].(map[string]any); ok && meta["namespace"] != nil {
		meta["namespace"] = namespace
	}
	moved.raw = []byte(encodedAny(object))
	return &moved
}
