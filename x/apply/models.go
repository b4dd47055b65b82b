package apply

import (
	"fmt"
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/celadon-cel/celadon/engine/x/structural"
	"github.com/celadon-cel/celadon/internal/mergeschema"
)

// models converts, creates, and defaults objects for the field managers of a CRD. It converts objects
// by strategy None.
type models struct {
	managedfields.TypeConverter // has no types
	runtime.ObjectConvertor     // nil
	group                       schema.GroupKind
	types                       map[string]typed.ParseableType   // by version
	defaults                    map[string]*structural.Defaulter // by version
}

func newModels(crd *apiextensionsv1.CustomResourceDefinition) (*models, error) {
	none, err := managedfields.NewTypeConverter(nil, false)
	if err != nil {
		return nil, err
	}
	group := schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
	all := &models{none, nil, group, map[string]typed.ParseableType{}, map[string]*structural.Defaulter{}}
	of, preserve := structural.Of, crd.Spec.PreserveUnknownFields
	if preserve {
		of = structural.Open
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		_, s, err := of(v.Schema)
		if err != nil {
			return nil, err
		}
		all.defaults[v.Name] = structural.NewDefaulter(s)
		s.XPreserveUnknownFields = s.XPreserveUnknownFields || preserve
		all.types[v.Name] = mergeschema.Of(s)
	}
	return all, nil
}

// ObjectToTyped implements managedfields.TypeConverter.
func (m *models) ObjectToTyped(in runtime.Object, o ...typed.ValidationOptions) (*typed.TypedValue, error) {
	gvk := in.GetObjectKind().GroupVersionKind()
	u, ok := in.(*unstructured.Unstructured)
	if t, known := m.types[gvk.Version]; ok && known && gvk.GroupKind() == m.group {
		return t.FromUnstructured(u.UnstructuredContent(), o...)
	}
	return m.TypeConverter.ObjectToTyped(in, o...) // an error
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (m *models) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	gvk, ok := to.KindForGroupVersionKinds([]schema.GroupVersionKind{from})
	if !ok {
		return nil, fmt.Errorf("%s cannot be converted to %s", from, to)
	}
	if _, known := m.types[gvk.Version]; !known || gvk.Group != m.group.Group {
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", gvk.GroupVersion())
	}
	u, ok := in.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("a %T cannot be converted", in)
	}
	out := &unstructured.Unstructured{Object: maps.Clone(u.Object)}
	out.SetGroupVersionKind(gvk)
	return out, nil
}

// New implements runtime.ObjectCreater. An apply that creates an object starts from the result.
func (m *models) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// Default implements runtime.ObjectDefaulter.
func (m *models) Default(in runtime.Object) {
	if u, ok := in.(*unstructured.Unstructured); ok {
		m.defaults[u.GroupVersionKind().Version].Default(u.Object)
	}
}
