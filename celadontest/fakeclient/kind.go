package fakeclient

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/x/apply"
)

// A kind holds a CRD and the data derived from it.
type kind struct {
	crd        *apiextensionsv1.CustomResourceDefinition
	group      schema.GroupKind
	resource   schema.GroupResource
	namespaced bool
	store      *store
	managers   *apply.Managers
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
		managers:   apply.NewManagers(crd),
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
