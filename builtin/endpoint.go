package builtin

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/endpoints/deprecation"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/component-base/version"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/capabilities"
)

type endpoint struct {
	storage      rest.Storage
	scope        handlers.RequestScope
	warnings     []string
	fieldManager func() (*managedfields.FieldManager, error)
}

var all = sync.OnceValue(func() map[schema.GroupVersionKind]*Resource {
	capabilities.Setup(true, 0) // kube-apiserver --allow-privileged, as in the clusters of all common installers
	kinds, types := map[schema.GroupVersionKind]*Resource{}, legacyscheme.Scheme.AllKnownTypes()
	for _, r := range resources {
		versions := strings.Fields(r.versions)
		registries := sync.OnceValues(func() (storages, error) { return r.new(restOptions{r.stored()}) })
		for _, v := range versions {
			gv := schema.GroupVersion{Group: r.group, Version: v}
			kind := gv.WithKind(r.kind)
			kinds[kind] = &Resource{
				GroupVersionKind: kind, Name: r.name, Type: types[kind],
				endpoints: sync.OnceValues(func() (map[string]*endpoint, error) {
					registries, err := registries()
					if err != nil {
						return nil, err
					}
					return newEndpoints(gv.WithResource(r.name), registries)
				}),
			}
		}
	}
	return kinds
})

func newEndpoints(
	resource schema.GroupVersionResource, registries storages,
) (map[string]*endpoint, error) {
	endpoints := map[string]*endpoint{}
	main, ok := registries[""].(rest.Scoper)
	if !ok {
		return nil, fmt.Errorf("%v has no scope", resource)
	}
	for subresource, registry := range registries {
		scope, err := newScope(resource, subresource, registry, !main.NamespaceScoped())
		if err != nil {
			return nil, err
		}
		warnings, err := deprecations(scope.Kind)
		if err != nil {
			return nil, err
		}
		endpoints[subresource] = &endpoint{registry, *scope, warnings, sync.OnceValues(func() (*managedfields.FieldManager, error) {
			return newApplyManager(scope.Kind, scope.HubGroupVersion, subresource, registry)
		})}
	}
	return endpoints, nil
}

func deprecations(kind schema.GroupVersionKind) ([]string, error) {
	object, err := legacyscheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	release := utilversion.MustParseGeneric(version.DefaultKubeBinaryVersion)
	if !deprecation.IsDeprecated(object, int(release.Major()), int(release.Minor())) {
		return nil, nil
	}
	object.GetObjectKind().SetGroupVersionKind(kind)
	return []string{deprecation.WarningMessage(object)}, nil
}

// maxBody is the API server's limit of the body of a request in bytes.
const maxBody = 3 << 20

// newScope returns the scope of an endpoint as APIInstaller in k8s.io/apiserver/pkg/endpoints does.
func newScope(
	resource schema.GroupVersionResource, subresource string, registry rest.Storage, cluster bool,
) (*handlers.RequestScope, error) {
	gv, scheme := resource.GroupVersion(), legacyscheme.Scheme
	kind, err := kindOf(gv, registry)
	if err != nil {
		return nil, err
	}
	hub := schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal}
	scope := &handlers.RequestScope{
		Namer:      handlers.ContextBasedNaming{Namer: runtime.Namer(meta.NewAccessor()), ClusterScoped: cluster},
		Serializer: legacyscheme.Codecs, ParameterCodec: legacyscheme.ParameterCodec,
		Creater: scheme, Convertor: scheme, Defaulter: scheme, Typer: scheme,
		UnsafeConvertor: runtime.UnsafeObjectConvertor(scheme),
		Authorizer:      allowed, EquivalentResourceMapper: runtime.NewEquivalentResourceRegistry(),
		Resource: resource, Kind: kind, Subresource: subresource,
		MetaGroupVersion: metav1.SchemeGroupVersion, HubGroupVersion: hub, MaxRequestBodyBytes: maxBody,
	}
	if acceptor, ok := registry.(rest.GroupVersionAcceptor); ok {
		scope.AcceptsGroupVersionDelegate = acceptor
	}
	scope.FieldManager, err = newFieldManager(kind, hub, subresource)
	return scope, err
}

func kindOf(gv schema.GroupVersion, registry rest.Storage) (schema.GroupVersionKind, error) {
	if provider, ok := registry.(rest.GroupVersionKindProvider); ok {
		return provider.GroupVersionKind(gv), nil
	}
	kinds, _, err := legacyscheme.Scheme.ObjectKinds(registry.New())
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	for _, kind := range kinds {
		if kind.Group == gv.Group {
			return gv.WithKind(kind.Kind), nil
		}
	}
	return schema.GroupVersionKind{}, fmt.Errorf("%T has no kind in %s", registry.New(), gv)
}

// A Resource is a built-in kind in one version.
type Resource struct {
	schema.GroupVersionKind
	// Name is the plural name in URLs.
	Name string
	// Type is the Go type of the objects.
	Type reflect.Type

	endpoints func() (map[string]*endpoint, error) // created by the first call
}

// Lookup returns the resource of a built-in kind, or nil for another kind.
func Lookup(gvk schema.GroupVersionKind) *Resource { return all()[gvk] }

// Namespaced reports whether the objects belong to namespaces.
func (r *Resource) Namespaced() bool {
	endpoints, err := r.endpoints()
	if err != nil {
		return false
	}
	scoper, ok := endpoints[""].storage.(rest.Scoper)
	return ok && scoper.NamespaceScoped()
}
