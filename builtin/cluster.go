package builtin

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/compatibility"
	"k8s.io/component-base/version"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	schedulingv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
)

// A Cluster holds admission plugins of the API server, and the objects that they read. It is safe for concurrent use.
type Cluster struct {
	plugins []plugin
	stores  stores          // of the objects that plugins read
	given   map[string]bool // the keys of the objects in stores that are given, not assumed
}

type plugin struct {
	admission.Interface
	name string
}

// maxScanned limits the items of LimitRanges, and the classes, of a Cluster: plugins look at all of
// them for each object.
const maxScanned = 10_000

// NewCluster returns a Cluster with the named plugins, and with those of the given objects that
// plugins read and that the API server would accept. The objects are not modified. The error is
// ctx.Err(), a *LimitError, an internal error, or names an unknown plugin.
func NewCluster(ctx context.Context, plugins []string, objects []map[string]any) (*Cluster, error) {
	binary := compatibility.NewEffectiveVersionFromString(version.DefaultKubeBinaryVersion, "", "")
	c := &Cluster{stores: newStores(), given: map[string]bool{}}
	initialize := initializer.New(noClient{}, nil, c.stores, allowed, utilfeature.DefaultFeatureGate, binary, nil, nil)
	for _, known := range knownPlugins {
		if !slices.Contains(plugins, known.name) {
			continue
		}
		p, err := registered().InitPlugin(known.name, nil, initialize)
		if err != nil {
			return nil, err
		}
		if waits, ok := p.(interface{ SetReadyFunc(admission.ReadyFunc) }); ok {
			waits.SetReadyFunc(func() bool { return true })
		}
		c.plugins = append(c.plugins, plugin{p, known.name})
	}
	for _, name := range plugins {
		if !slices.Contains(Plugins(false), name) {
			return nil, fmt.Errorf("unknown admission plugin %q", name)
		}
	}
	for _, class := range schedulingv1.SystemPriorityClasses() {
		if err := c.addOne("PriorityClass", class); err != nil {
			return nil, err
		}
	}
	return c, c.add(ctx, objects)
}

// readKinds maps the kinds that admission plugins read to their groups. All have the version v1.
var readKinds = map[string]string{
	"Namespace": "", "LimitRange": "", "ServiceAccount": "", "PriorityClass": "scheduling.k8s.io",
	"RuntimeClass": "node.k8s.io", "StorageClass": "storage.k8s.io", "IngressClass": "networking.k8s.io",
}

// ReadKinds returns the names of the kinds that admission plugins read, sorted.
func ReadKinds() []string { return slices.Sorted(maps.Keys(readKinds)) }

// Read reports whether admission plugins read objects of a kind.
func Read(kind schema.GroupVersionKind) bool {
	group, ok := readKinds[kind.Kind]
	return ok && kind.GroupVersion() == schema.GroupVersion{Group: group, Version: "v1"}
}

func (c *Cluster) add(ctx context.Context, objects []map[string]any) error {
	scanned := 0
	for _, object := range objects {
		kind := kindOfObject(object)
		if !Read(kind) {
			continue
		}
		res, err := Validate(ctx, Request{Object: object})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !res.Allowed {
			continue
		}
		stored, err := decodeBy(legacyscheme.Codecs.UniversalDecoder(kind.GroupVersion()), res.Object)
		if err != nil {
			return err
		}
		if status, _ := object["status"].(map[string]any); kind.Kind == "Namespace" && status["phase"] == "Terminating" {
			stored.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating
		}
		if scanned += scans(stored); scanned > maxScanned {
			const reason = "objects in a cluster with more than %d limits and classes are not decided"
			return &LimitError{fmt.Sprintf(reason, maxScanned)}
		}
		if err := c.addOne(kind.Kind, stored); err != nil {
			return err
		}
	}
	return nil
}

// scans returns how many items plugins look at if the cluster has an object.
func scans(object runtime.Object) int {
	switch object := object.(type) {
	case *corev1.Namespace, *corev1.ServiceAccount: // are found by name
		return 0
	case *corev1.LimitRange:
		return len(object.Spec.Limits)
	}
	return 1
}

func (c *Cluster) addOne(kind string, object runtime.Object) error {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		return err
	}
	c.given[kind+" "+key] = true
	return c.stores.byKind[kind].Add(object)
}

// assume adds an object that was not given, unless the cluster has an object of that name.
func (c *Cluster) assume(kind string, object metav1.Object) error {
	if _, exists, err := c.stores.byKind[kind].Get(object); exists || err != nil {
		return err
	}
	return c.stores.byKind[kind].Add(object)
}

func (c *Cluster) limited(namespace string) bool {
	items, err := c.stores.byKind["LimitRange"].ByIndex(cache.NamespaceIndex, namespace)
	return err == nil && len(items) > 0
}
