package catalog

import (
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// An Entry is a CRD of a catalog. It is immutable.
type Entry struct {
	// Name is the name of the CRD. Kind is the kind of its objects.
	Name string
	Kind schema.GroupKind
	// CRD is nil unless the catalog is lazy, because it is large and rarely needed after
	// compilation. Read-only.
	CRD *apiextensionsv1.CustomResourceDefinition

	versions map[string]version
	// digest is the SHA-256 hash of the CRD's spec, to detect changes. It is zero for a CRD that is new in a lazy
	// catalog.
	digest [32]byte
	config engine.Config

	once   sync.Once
	engine *engine.Engine
	err    error
}

type version struct {
	served bool
	status bool
}

// Engine returns the engine of the CRD. In a lazy catalog, the first call compiles the CRD, and
// Engine can return an engine with *engine.CompileErrors, or no engine and another error. Otherwise
// it always returns an engine.
func (e *Entry) Engine() (*engine.Engine, error) {
	e.once.Do(func() { e.engine, e.err = engine.Compile(e.CRD, e.config) })
	return e.engine, e.err
}

// Serves reports whether the CRD serves a version.
func (e *Entry) Serves(version string) bool { return e.versions[version].served }

// HasStatus reports whether a version has the status subresource.
func (e *Entry) HasStatus(version string) bool { return e.versions[version].status }

// Namespaced reports whether objects of the CRD are namespaced.
func (e *Entry) Namespaced() bool {
	if e.CRD != nil {
		return e.CRD.Spec.Scope == apiextensionsv1.NamespaceScoped
	}
	return e.engine.Info().Namespaced
}

func newEntry(crd *apiextensionsv1.CustomResourceDefinition, cfg engine.Config) *Entry {
	e := &Entry{
		Name:     crd.Name,
		Kind:     schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind},
		CRD:      crd,
		versions: map[string]version{},
		config:   cfg,
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		e.versions[v.Name] = version{served: v.Served, status: v.Subresources != nil && v.Subresources.Status != nil}
	}
	return e
}
