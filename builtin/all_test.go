package builtin

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/kubernetes/pkg/kubeapiserver"
)

func TestResources(t *testing.T) {
	for kind, served := range all() {
		endpoints, err := served.endpoints()
		if err != nil {
			t.Errorf("%v: %v", kind, err)
			continue
		}
		if got := endpoints[""].scope.Kind; got != kind {
			t.Errorf("%v: the registry has %v", kind, got)
		}
	}
}

func TestStoredVersions(t *testing.T) {
	config := kubeapiserver.NewStorageFactoryConfigEffectiveVersion(compatibility.DefaultBuildEffectiveVersion())
	want := map[schema.GroupResource]schema.GroupVersion{
		{Group: "events.k8s.io", Resource: "events"}: {Version: "v1"}, // both groups have the same objects
	}
	for _, o := range config.ResourceEncodingOverrides {
		want[o.GroupResource()] = o.GroupVersion()
	}
	for _, r := range resources {
		id := schema.GroupResource{Group: r.group, Resource: r.name}
		version, ok := want[id]
		if !ok {
			var err error
			if version, err = config.DefaultResourceEncoding.StorageEncodingFor(id); err != nil {
				t.Error(err)
			}
		}
		if got := r.stored(); version != got {
			t.Errorf("%s: stored in %v, want %v", r.name, got, version)
		}
	}
}
