package apply

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/celadon-cel/celadon/engine"
)

// Managers holds the field managers of a CRD, which are built when they are needed. It is safe for concurrent use. The
// CRD must not be modified. If it converts with a webhook, entries of managers in other versions are read as if the
// fields were the same in all versions.
type Managers struct {
	crd    *apiextensionsv1.CustomResourceDefinition
	models func() (*models, error)
	known  sync.Map // of *managedfields.FieldManager by endpoint
}

type endpoint struct{ version, subresource string }

// NewManagers returns the field managers of a CRD.
func NewManagers(crd *apiextensionsv1.CustomResourceDefinition) *Managers {
	return &Managers{crd: crd, models: sync.OnceValues(func() (*models, error) { return newModels(crd) })}
}

// Manager returns the field manager of an endpoint, configured as in the server.
func (m *Managers) Manager(version, subresource string) (*managedfields.FieldManager, error) {
	at := endpoint{version, subresource}
	if known, ok := m.known.Load(at); ok {
		return known.(*managedfields.FieldManager), nil
	}
	all, err := m.models()
	if err != nil {
		return nil, fmt.Errorf("CRD %s: %w", m.crd.Name, err)
	}
	gvk := all.group.WithVersion(version)
	manager, err := managedfields.NewDefaultCRDFieldManager(all, all, all, all, gvk, gvk.GroupVersion(), subresource, m.reset(at))
	if err != nil {
		return nil, err
	}
	m.known.Store(at, manager)
	return manager, nil
}

// reset returns the fields that writes to an endpoint cannot change; see
// k8s.io/apiextensions-apiserver/pkg/registry/customresource.
func (m *Managers) reset(at endpoint) map[fieldpath.APIVersion]fieldpath.Filter {
	sets := map[fieldpath.APIVersion]*fieldpath.Set{}
	for i := range m.crd.Spec.Versions {
		v := &m.crd.Spec.Versions[i]
		version := fieldpath.APIVersion(schema.GroupVersion{Group: m.crd.Spec.Group, Version: v.Name}.String())
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

// maxManagedWork limits the work on managedFields to a few seconds. A server keeps ten entries for updates, and one for
// each tool that applies.
const maxManagedWork = 500_000_000

// CheckManaged returns an *engine.WorkLimitError if an object has so many managers of so many fields that merging it
// would take too long: the library unites the fields of the managers one after the other.
func CheckManaged(live map[string]any) error {
	entries := Managed(live)
	size := len(entries)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		size += countFields(entry["fieldsV1"])
	}
	if len(entries)*size > maxManagedWork {
		return &engine.WorkLimitError{Part: "managedFields", Reason: "the object has too many managers of too many fields to be merged"}
	}
	return nil
}

func countFields(v any) int {
	fields, _ := v.(map[string]any)
	n := len(fields)
	for _, below := range fields {
		n += countFields(below)
	}
	return n
}

// Merge returns the result of server-side apply: object, in the version of the request, merged into live, which is the
// stored object as a read in that version returns it, or nil. The result includes managedFields and defaults. A status
// is set if the server rejects the request, for example with 409 for a conflict. The error can be an
// *engine.WorkLimitError. Merge does not modify the objects.
func (m *Managers) Merge(live, object map[string]any, version, subresource string, w Write) (
	merged map[string]any, status *metav1.Status, err error,
) {
	defer func() {
		if p := recover(); p != nil {
			merged, status, err = nil, nil, &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	if err := CheckManaged(live); err != nil {
		return nil, nil, err
	}
	manager, err := m.Manager(version, subresource)
	if err != nil {
		return nil, nil, err
	}
	all, _ := m.models()
	from, _ := all.New(all.group.WithVersion(version))
	if live != nil {
		from = &unstructured.Unstructured{Object: runtime.DeepCopyJSON(live)}
	}
	config := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	out, err := manager.Apply(from, config, w.Manager, w.Force)
	if err != nil {
		return nil, Status(err), nil
	}
	return wholeNumbers(out.(*unstructured.Unstructured).UnstructuredContent()).(map[string]any), nil, nil
}

// wholeNumbers returns a value in the form of engine.Decode: a merge leaves whole numbers of defaults as float64. It
// copies maps and lists, because they may share memory with the schema.
func wholeNumbers(v any) any {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int64(v)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = wholeNumbers(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = wholeNumbers(item)
		}
		return out
	}
	return v
}

// Status returns the status that a server sends for an error.
func Status(err error) *metav1.Status {
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status := known.Status()
		return &status
	}
	return &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonUnknown, Message: err.Error(),
	}
}
