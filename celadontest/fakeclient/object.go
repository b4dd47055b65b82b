package fakeclient

import (
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// typesOf returns a copy of a scheme's Go types, because the fake client can add types to s at any
// time.
func typesOf(s *runtime.Scheme) *runtime.Scheme {
	types := runtime.NewScheme()
	for gvk, t := range s.AllKnownTypes() {
		if obj, ok := reflect.New(t).Interface().(runtime.Object); ok {
			types.AddKnownTypeWithName(gvk, obj)
		}
	}
	return types
}

// toGo returns u itself if its kind has no Go type, or if it does not convert to that type.
func (s *server) toGo(u *unstructured.Unstructured) runtime.Object {
	obj, err := s.types.New(u.GroupVersionKind())
	if err != nil {
		return u
	}
	_, untyped := obj.(runtime.Unstructured)
	if untyped || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj) != nil {
		return u
	}
	return obj
}

// Like a client's decoder, receive leaves the TypeMeta of Go types empty, except in PartialObjectMetadata.
func receive(answer map[string]any, into any) error {
	if u, ok := into.(runtime.Unstructured); ok {
		u.SetUnstructuredContent(answer)
		return nil
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	if v := reflect.ValueOf(into); v.Kind() == reflect.Pointer && !v.IsNil() {
		v.Elem().SetZero()
	}
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	if _, partial := into.(*metav1.PartialObjectMetadata); partial {
		return nil
	}
	if obj, ok := into.(runtime.Object); ok {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return nil
}
