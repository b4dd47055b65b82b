package fakeclient

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// A kind holds a CRD and the data derived from it.
type kind struct {
	crd        *apiextensionsv1.CustomResourceDefinition
	group      schema.GroupKind
	resource   schema.GroupResource
	namespaced bool
	store      *store

	once     sync.Once
	err      error
	models   *models
	managers sync.Map // of *managedfields.FieldManager by endpoint
}

// An endpoint is a version and subresource that objects are written to.
type endpoint struct{ version, subresource string }

func newKind(crd *apiextensionsv1.CustomResourceDefinition) *kind {
	return &kind{
		crd:        crd,
		group:      schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind},
		resource:   schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural},
		namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		store:      newStore(),
	}
}

func (k *kind) serves(at endpoint) bool {
	for i := range k.crd.Spec.Versions {
		v := &k.crd.Spec.Versions[i]
		if v.Name == at.version && v.Served {
			return at.subresource == "" || at.subresource == "status" && v.Subresources != nil && v.Subresources.Status != nil
		}
	}
	return false
}

func (k *kind) hasStatus(version string) bool { return k.serves(endpoint{version, "status"}) }

// manager returns the field manager of an endpoint, configured as in the server.
func (k *kind) manager(at endpoint) (*managedfields.FieldManager, error) {
	if m, ok := k.managers.Load(at); ok {
		return m.(*managedfields.FieldManager), nil
	}
	if k.once.Do(func() { k.models, k.err = newModels(k) }); k.err != nil {
		return nil, fmt.Errorf("CRD %s: %w", k.crd.Name, k.err)
	}
	gvk, all := k.group.WithVersion(at.version), k.models
	m, err := managedfields.NewDefaultCRDFieldManager(all, all, all, all, gvk, gvk.GroupVersion(), at.subresource,
		k.reset(at))
	if err != nil {
		return nil, err
	}
	k.managers.Store(at, m)
	return m, nil
}

// reset returns the fields that writes to an endpoint cannot change; see
// k8s.io/apiextensions-apiserver/pkg/registry/customresource.
func (k *kind) reset(at endpoint) map[fieldpath.APIVersion]fieldpath.Filter {
	sets := map[fieldpath.APIVersion]*fieldpath.Set{}
	for i := range k.crd.Spec.Versions {
		v := &k.crd.Spec.Versions[i]
		version := fieldpath.APIVersion(k.group.WithVersion(v.Name).GroupVersion().String())
		switch {
		case !v.Served && !v.Storage || v.Subresources == nil || v.Subresources.Status == nil:
		case at.subresource == "status":
			sets[version] = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
		case v.Name == at.version:
			sets[version] = fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
		}
	}
	return fieldpath.NewExcludeFilterSetMap(sets)
}
