package metadata

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/json"
)

// Decoding holds options for reading metadata from JSON. It follows
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta, whose import would link much more.
type Decoding struct {
	// Repair drops malformed fields, as the API server does when it reads from storage. Otherwise
	// they are errors.
	Repair bool
	// Track collects the paths of unknown fields.
	Track bool
}

// Decode decodes the metadata of the resource at path. Unknown fields are dropped.
func (d Decoding) Decode(value any, path *field.Path) (meta *metav1.ObjectMeta, unknown []string, err error) {
	meta = &metav1.ObjectMeta{}
	if unknown, err = d.into(meta, value, path); err == nil {
		return meta, unknown, nil
	}
	if !d.Repair {
		return nil, nil, err
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("invalid metadata: expected object, got %T", value)
	}
	meta, unknown = d.repair(fields, path)
	return meta, unknown, nil
}

// If into fails, meta can be partly changed.
func (d Decoding) into(meta *metav1.ObjectMeta, value any, path *field.Path) (unknown []string, err error) {
	data, err := utiljson.Marshal(value)
	if err != nil || !d.Track {
		if err == nil {
			err = utiljson.Unmarshal(data, meta)
		}
		return nil, err
	}
	problems, err := json.UnmarshalStrict(data, meta)
	if err != nil {
		return nil, err
	}
	for _, problem := range problems {
		if at, ok := problem.(json.FieldError); ok {
			unknown = append(unknown, path.Child("metadata").String()+"."+at.FieldPath())
		}
	}
	return unknown, nil
}

func (d Decoding) repair(fields map[string]any, path *field.Path) (meta *metav1.ObjectMeta, unknown []string) {
	meta = &metav1.ObjectMeta{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		one := map[string]any{name: fields[name]}
		if _, err := (Decoding{}).into(&metav1.ObjectMeta{}, one, path); err != nil {
			continue
		}
		more, _ := d.into(meta, one, path)
		unknown = append(unknown, more...)
	}
	return meta, unknown
}

// Embedded normalizes apiVersion, kind, and metadata of an embedded resource, whose map it modifies.
func (d Decoding) Embedded(resource map[string]any, path *field.Path) (unknown []string, err *field.Error) {
	for _, name := range []string{"apiVersion", "kind"} {
		v, ok := resource[name]
		if _, isString := v.(string); !ok || isString {
			continue
		}
		if !d.Repair {
			return nil, field.Invalid(path.Child(name), v, "must be a string")
		}
		delete(resource, name)
	}
	value, ok := resource["metadata"]
	if !ok {
		return nil, nil
	}
	normal, unknown, failure := d.normal(value, path)
	switch {
	case failure == nil:
		resource["metadata"] = normal
	case !d.Repair:
		err = field.Invalid(path.Child("metadata"), value, failure.Error())
	}
	return unknown, err
}

func (d Decoding) normal(value any, path *field.Path) (fields map[string]any, unknown []string, err error) {
	meta, unknown, err := d.Decode(value, path)
	if err != nil {
		return nil, nil, err
	}
	fields, err = runtime.DefaultUnstructuredConverter.ToUnstructured(meta)
	if meta.CreationTimestamp.IsZero() {
		delete(fields, "creationTimestamp")
	}
	return fields, unknown, err
}
