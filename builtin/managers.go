package builtin

import (
	"errors"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// newFieldManager returns a field manager that treats metadata.managedFields as the API server does but records no
// fields: who manages which field is not part of a Result.
func newFieldManager(kind schema.GroupVersionKind, hub schema.GroupVersion, subresource string) (*managedfields.FieldManager, error) {
	scheme := legacyscheme.Scheme
	return managedfields.NewDefaultFieldManager(noFields{}, unconverted{scheme}, scheme, scheme, kind, hub, subresource, nil)
}

// noFields has no fields in any object. It implements managedfields.TypeConverter.
type noFields struct{}

var noField = sync.OnceValues(func() (*typed.TypedValue, error) {
	return typed.DeducedParseableType.FromUnstructured(map[string]any{})
})

func (noFields) ObjectToTyped(runtime.Object, ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return noField()
}

func (noFields) TypedToObject(*typed.TypedValue) (runtime.Object, error) {
	return &metav1.PartialObjectMetadata{}, nil
}

// unconverted returns objects without converting them, because noFields ignores their contents.
type unconverted struct{ *runtime.Scheme }

func (unconverted) Convert(_, _, _ any) error { return errors.ErrUnsupported }

func (unconverted) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
