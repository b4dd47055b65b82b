package fakeclient

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/celadon-cel/celadon/engine"
)

// gvkOf returns the type of obj, from the object itself or from the scheme.
func (s *server) gvkOf(obj runtime.Object) (schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(obj, s.types)
	if runtime.IsNotRegisteredError(err) {
		err = fmt.Errorf("fakeclient: %w: set the scheme in Config, and do not call WithScheme", err)
	}
	return gvk, err
}

// typesOf returns a scheme with the Go types of s. It is a copy because the fake client can add
// types to s at any time.
func typesOf(s *runtime.Scheme) *runtime.Scheme {
	types := runtime.NewScheme()
	for gvk, t := range s.AllKnownTypes() {
		if obj, ok := reflect.New(t).Interface().(runtime.Object); ok {
			types.AddKnownTypeWithName(gvk, obj)
		}
	}
	return types
}

// sent returns an object as a client sends it.
func sent(obj any, gvk schema.GroupVersionKind) (map[string]any, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	out, err := engine.Decode(data)
	if err != nil {
		return nil, err
	}
	out["apiVersion"], out["kind"] = gvk.ToAPIVersionAndKind()
	return out, nil
}

// receive stores a response in the object that a client passed. Like a client's decoder, it leaves
// TypeMeta of Go types empty.
func receive(answer map[string]any, into any) error {
	data, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("a %T is given: want a pointer", into)
	}
	v.Elem().SetZero()
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	obj, ok := into.(runtime.Object)
	if !ok {
		return nil
	}
	switch obj.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		return nil
	}
	accessor, err := meta.TypeAccessor(obj)
	if err == nil {
		accessor.SetAPIVersion("")
		accessor.SetKind("")
	}
	return err
}

// userAgent returns the manager name that a server derives from a client's user agent.
func userAgent(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	var b strings.Builder
	for _, r := range name {
		if unicode.IsPrint(r) && b.Len()+utf8.RuneLen(r) <= metav1validation.FieldManagerMaxLength {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// configured returns an apply configuration as a client sends it.
func configured(obj runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("failed to marshal apply configuration: %w", err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		return nil, fmt.Errorf("failed to unmarshal apply configuration: %w", err)
	}
	return u, nil
}

func receiveConfiguration(answer map[string]any, into runtime.ApplyConfiguration) error {
	if u, ok := into.(runtime.Unstructured); ok {
		u.SetUnstructuredContent(answer)
		return nil
	}
	return receive(answer, into)
}
