package catalog

import (
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// Entry is one CRD of a catalogue. It does not change.
type Entry struct {
	// Name is the CRD's, Kind what its objects are.
	Name string
	Kind schema.GroupKind
	// CRD is nil unless the catalogue is lazy: it is large, and who has the
	// engine seldom needs it. Read-only.
	CRD *apiextensionsv1.CustomResourceDefinition

	versions map[string]version
	// digest tells whether the CRD's spec is the same as another.
	digest [32]byte
	config engine.Config

	once   sync.Once
	engine *engine.Engine
	err    error
}

// version is what is known of a CRD version before it is compiled.
type version struct {
	served bool
	// status is true when the version has the status subresource.
	status bool
}

// Engine is the CRD compiled. Of a lazy catalogue's there may be an engine beside
// *engine.CompileErrors, or none beside another error; of others there is always
// an engine.
func (e *Entry) Engine() (*engine.Engine, error) {
	e.once.Do(func() { e.engine, e.err = engine.Compile(e.CRD, e.config) })
	return e.engine, e.err
}

// Serves is true of a version that the CRD serves.
func (e *Entry) Serves(version string) bool { return e.versions[version].served }

// HasStatus is true of a version that has the status subresource.
func (e *Entry) HasStatus(version string) bool { return e.versions[version].status }

// Namespaced is true where objects have a namespace.
func (e *Entry) Namespaced() bool {
	if e.CRD != nil {
		return e.CRD.Spec.Scope == apiextensionsv1.NamespaceScoped
	}
	return e.engine.Namespaced()
}

// newEntry is a CRD that is not compiled yet.
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
