package builtin

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// An endpoint is the URL of a resource or subresource in one version.
type endpoint struct {
	storage rest.Storage
	scope   handlers.RequestScope
}

// all holds the resources by kind.
var all = sync.OnceValue(func() map[schema.GroupVersionKind]*Resource {
	kinds := map[schema.GroupVersionKind]*Resource{}
	for _, r := range resources {
		versions := strings.Fields(r.versions)
		stored := schema.GroupVersion{Group: r.group, Version: versions[0]}
		registries := sync.OnceValues(func() (map[string]rest.Storage, error) { return r.new(restOptions{stored}) })
		for _, version := range versions {
			gv := schema.GroupVersion{Group: r.group, Version: version}
			kinds[gv.WithKind(r.kind)] = &Resource{
				GroupVersionKind: gv.WithKind(r.kind), Name: r.name, Type: legacyscheme.Scheme.AllKnownTypes()[gv.WithKind(r.kind)],
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

func newEndpoints(resource schema.GroupVersionResource, registries map[string]rest.Storage) (map[string]*endpoint, error) {
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
		endpoints[subresource] = &endpoint{registry, *scope}
	}
	return endpoints, nil
}

// maxBody is the API server's limit of the body of a request in bytes.
const maxBody = 3 << 20

// newScope returns the scope of an endpoint as APIInstaller in k8s.io/apiserver/pkg/endpoints does.
func newScope(resource schema.GroupVersionResource, subresource string, registry rest.Storage, cluster bool) (*handlers.RequestScope, error) {
	gv, scheme := resource.GroupVersion(), legacyscheme.Scheme
	kind, err := kindOf(gv, registry)
	if err != nil {
		return nil, err
	}
	hub := schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal}
	scope := &handlers.RequestScope{
		Namer:      handlers.ContextBasedNaming{Namer: runtime.Namer(meta.NewAccessor()), ClusterScoped: cluster},
		Serializer: legacyscheme.Codecs, ParameterCodec: legacyscheme.ParameterCodec,
		Creater: scheme, Convertor: scheme, Defaulter: scheme, Typer: scheme, UnsafeConvertor: runtime.UnsafeObjectConvertor(scheme),
		Authorizer: allowed, EquivalentResourceMapper: runtime.NewEquivalentResourceRegistry(),
		Resource: resource, Kind: kind, Subresource: subresource,
		MetaGroupVersion: metav1.SchemeGroupVersion, HubGroupVersion: hub, MaxRequestBodyBytes: maxBody,
	}
	if acceptor, ok := registry.(rest.GroupVersionAcceptor); ok {
		scope.AcceptsGroupVersionDelegate = acceptor
	}
	scope.FieldManager, err = managedfields.NewDefaultFieldManager(
		noFields{}, scope.UnsafeConvertor, scheme, scheme, kind, hub, subresource, nil)
	return scope, err
}

// kindOf returns the kind of the objects in requests to a registry.
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

// noFields makes a field manager that records no fields: who manages which field is not part of a Result. It implements
// managedfields.TypeConverter.
type noFields struct{}

var noField = sync.OnceValues(func() (*typed.TypedValue, error) {
	return typed.DeducedParseableType.FromUnstructured(map[string]any{})
})

func (noFields) ObjectToTyped(runtime.Object, ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return noField()
}

func (noFields) TypedToObject(*typed.TypedValue) (runtime.Object, error) {
	return nil, errors.ErrUnsupported
}
