package apply

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
)

// A PatchError reports why kubectl apply cannot compute a patch. In that case, kubectl sends nothing.
type PatchError struct{ Err error }

func (e *PatchError) Error() string {
	return "kubectl apply cannot compute the patch: " + e.Err.Error()
}

func (e *PatchError) Unwrap() error { return e.Err }

// keyChanged is the message that kubectl prints if a merge would change the identity of the object.
const keyChanged = "At least one of apiVersion, kind and name was changed"

// Patch returns the patch that kubectl apply sends for object, which must have its namespace. live is the stored object
// as a read in the version of object returns it. of is the Go type of a built-in kind, whose patch is a strategic merge
// patch, or nil for a custom resource, whose patch is a JSON merge patch. Patch returns nil if there is nothing to
// send. The error is a *PatchError.
func Patch(live, object map[string]any, of reflect.Type) ([]byte, error) {
	patch, err := newPatch(live, object, of)
	switch {
	case mergepatch.IsPreconditionFailed(err):
		return nil, &PatchError{fmt.Errorf("%s", keyChanged)}
	case err != nil:
		return nil, &PatchError{err}
	case string(patch) == "{}":
		return nil, nil
	}
	return patch, nil
}

func newPatch(live, object map[string]any, of reflect.Type) (patch []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // of a library, on a hostile annotation
			patch, err = nil, fmt.Errorf("%v", p)
		}
	}()
	current, err := encode(live)
	if err != nil {
		return nil, err
	}
	modified, err := annotate(object)
	if err != nil {
		return nil, err
	}
	original := []byte(Annotation(live, LastApplied))
	if of != nil {
		meta, err := strategicpatch.NewPatchMetaFromStruct(reflect.New(of).Interface())
		if err != nil {
			return nil, err
		}
		return strategicpatch.CreateThreeWayMergePatch(original, modified, current, meta, true)
	}
	return jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current,
		mergepatch.RequireKeyUnchanged("apiVersion"), mergepatch.RequireKeyUnchanged("kind"), mergepatch.RequireMetadataKeyUnchanged("name"))
}

// Created returns the object that kubectl apply sends to create object: with the annotation LastApplied and without
// nulls in mappings. The error is a *PatchError.
func Created(object map[string]any) (map[string]any, error) {
	data, err := annotate(object)
	if err != nil {
		return nil, &PatchError{err}
	}
	created, err := engine.Decode(data)
	if err != nil {
		return nil, &PatchError{err}
	}
	withoutNulls(created)
	return created, nil
}

func withoutNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if value == nil {
				delete(v, name)
			}
			withoutNulls(value)
		}
	case []any:
		for _, item := range v {
			withoutNulls(item)
		}
	}
}

// Patched returns the JSON of live after a patch of Patch with the same type.
func Patched(live map[string]any, patch []byte, of reflect.Type) ([]byte, error) {
	current, err := encode(live)
	if err != nil {
		return nil, err
	}
	if of != nil {
		return strategicpatch.StrategicMergePatch(current, patch, reflect.New(of).Interface())
	}
	return jsonpatch.MergePatch(bytes.TrimSuffix(current, []byte("\n")), patch)
}

// InvalidPatch returns the status with which a server rejects a patched object that it cannot decode
// strictly. why is the reason.
func InvalidPatch(patched []byte, why string) metav1.Status {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), string(patched), why)}).ErrStatus
}

func annotate(object map[string]any) ([]byte, error) {
	object, err := withLastApplied(object)
	if err != nil {
		return nil, err
	}
	return encode(object)
}

// withLastApplied returns an object with its own JSON in the annotation LastApplied.
func withLastApplied(object map[string]any) (map[string]any, error) {
	annotations := map[string]any{}
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil, errors.New("metadata is missing")
	}
	switch given := meta["annotations"].(type) {
	case map[string]any:
		maps.Copy(annotations, given)
	case nil:
	default:
		return nil, fmt.Errorf("metadata.annotations is a %T", given)
	}
	delete(annotations, LastApplied)
	object, meta = maps.Clone(object), maps.Clone(meta)
	object["metadata"], meta["annotations"] = meta, annotations
	text, err := encode(object)
	if err != nil {
		return nil, err
	}
	annotations[LastApplied] = string(text)
	return object, nil
}

// encode returns an object as kubectl and the server encode it.
func encode(object map[string]any) ([]byte, error) {
	return runtime.Encode(unstructured.UnstructuredJSONScheme, &unstructured.Unstructured{Object: object})
}
