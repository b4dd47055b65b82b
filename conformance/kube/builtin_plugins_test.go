package kube

import (
	"net/http"
	"os"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/test/integration/etcd"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

// TestBuiltinPlugins runs an API server whose default admission plugins are on, with the objects of
// testdata/plugins.yaml.
func TestBuiltinPlugins(t *testing.T) {
	data, err := os.ReadFile("testdata/plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	documents := builtinDocuments(data)
	cluster, err := builtin.NewCluster(t.Context(), builtin.Plugins(true), documents)
	if err != nil {
		t.Fatal(err)
	}
	s := &builtinStage{
		plane: startWithAccounts(t, "--runtime-config=api/all=true", "--service-cluster-ip-range=10.96.0.0/12,fd00:10:96::/112"),
		t:     t, cluster: cluster, counts: map[string]*[2]int{},
	}
	listings := builtin.Resources()
	kinds := map[schema.GroupVersionKind]*builtin.Resource{}
	for _, kind := range listings {
		kinds[kind.GroupVersionKind] = kind
	}
	namespaces := []string{builtinNamespace}
	for _, doc := range documents {
		w := exampleWrite(kinds, doc)
		if code, text, _ := s.exchange(t, http.MethodPost, builtinPath(w.kind, w.namespace), w.raw); code != http.StatusCreated {
			t.Fatalf("%s: %d %s", w.raw, code, text)
		}
		if name := str(doc, "metadata", "name"); w.kind.Kind == "Namespace" && name != builtinNamespace {
			namespaces = append(namespaces, name)
		}
	}
	for i, w := range builtinExamples(t, kinds) {
		if !level.Long() && i%8 != 0 {
			continue
		}
		for _, namespace := range namespaces {
			s.compare(w.in(t, namespace))
		}
	}
	seedData := etcd.GetEtcdStorageDataForNamespace(builtinNamespace)
	for i, kind := range listings {
		if !level.Long() && !slices.Contains(admitted, kind.Kind) {
			continue
		}
		for _, seed := range seeds(t, kind, seedData) {
			s.creates(seed, i)
			s.writes(seed, i)
		}
	}
	s.report()
}

var admitted = []string{
	"Pod", "PodTemplate", "ReplicationController", "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "CronJob",
	"PersistentVolumeClaim", "PersistentVolume", "Ingress", "Node", "Namespace", "CertificateSigningRequest",
}
