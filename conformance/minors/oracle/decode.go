package main

import (
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// decode returns the paths of unknown fields. stored is set for an object in etcd.
func (r *Resource) decode(data []byte, stored bool) (*unstructured.Unstructured, []string, error) {
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(data, &u.Object); err != nil {
		return nil, nil, fmt.Errorf("decode the object: %w", err)
	}
	if stored {
		u.SetAPIVersion(r.Kind.GroupVersion().String()) // the conversion of strategy None
	}
	if got := u.GroupVersionKind(); got != r.Kind {
		return nil, nil, fmt.Errorf("decode the object: got %s, want %s", got, r.Kind)
	}
	meta, hasMeta, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{
		DropMalformedFields: stored, ReturnUnknownFieldPaths: true,
	})
	if err != nil {
		return nil, nil, err
	}
	more, err := r.coerce(u, stored)
	if err != nil {
		return nil, nil, err
	}
	if hasMeta {
		if err := setMeta(u, meta, stored); err != nil {
			return nil, nil, err
		}
	}
	defaulting.Default(u.Object, r.Structural)
	return u, append(unknown, more...), nil
}

// coerce prunes u, except for its root's metadata, and returns the paths of unknown fields.
func (r *Resource) coerce(u *unstructured.Unstructured, stored bool) (unknown []string, err error) {
	unknown = pruning.PruneWithOptions(u.Object, r.Structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, r.Structural)
	invalid, more := objectmeta.CoerceWithOptions(nil, u.Object, r.Structural, false, objectmeta.CoerceOptions{
		DropInvalidFields: stored, ReturnUnknownFieldPaths: true,
	})
	if invalid != nil {
		return nil, invalid
	}
	u.SetGroupVersionKind(r.Kind)
	return append(unknown, more...), nil
}

func setMeta(u *unstructured.Unstructured, meta *metav1.ObjectMeta, stored bool) error {
	if stored && meta.Generation == 0 {
		meta.Generation = 1
	}
	return objectmeta.SetObjectMeta(u.Object, meta)
}
