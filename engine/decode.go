package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/engine/internal/respond"
	"github.com/celadon-cel/celadon/engine/x/schema"
)

// Decode reads one JSON object as the API server does: whole numbers as int64,
// others as float64, names case-sensitive, the last of duplicate keys. See
// sigs.k8s.io/json.
func Decode(data []byte) (map[string]any, error) {
	var obj map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &obj); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	if obj == nil {
		return nil, errors.New("not a JSON object: null")
	}
	return obj, nil
}

// unread is the server's answer to what it cannot decode, and why.
type unread struct {
	status *metav1.Status
	why    error
}

// decode reads a request's object; strict are its duplicate keys.
func (e *Engine) decode(req *Request) (obj map[string]any, strict []StrictError, failed *unread, err error) {
	body := req.Raw
	if body == nil {
		plain := plainType(req.Object)
		if plain && !req.Merged {
			return req.Object, nil, nil, nil // received looks through it
		}
		if !schema.Decoded(req.Object) {
			return nil, nil, nil, checkTypes("", req.Object)
		}
		if plain {
			return req.Object, nil, nil, nil
		}
		if body, err = json.Marshal(req.Object); err != nil {
			return nil, nil, nil, fmt.Errorf("request: object: %w", err)
		}
	}
	obj, strict, gvk, err := decodeBody(body, e.kindOf(e.preferred()), req.fieldValidation() != metav1.FieldValidationIgnore)
	if err != nil {
		return req.Object, nil, &unread{respond.Unreadable(gvk, e.kind, body, err), err}, nil
	}
	if req.Raw == nil {
		obj = req.Object // whose numbers no encoding has touched
	}
	return obj, strict, nil, nil
}

// kindOf is what an endpoint takes.
func (e *Engine) kindOf(version string) runtimeschema.GroupVersionKind {
	return runtimeschema.GroupVersionKind{Group: e.group, Version: version, Kind: e.kind}
}

// plainType says that an object's kind and apiVersion are what interpret finds,
// so that there is no need to see bytes.
func plainType(obj map[string]any) bool {
	if asString(obj["kind"]) == "" {
		return false
	}
	if apiVersion, ok := obj["apiVersion"].(string); !ok || strings.Count(apiVersion, "/") > 1 {
		return false
	}
	for name := range obj {
		switch name {
		case "apiVersion", "kind", "metadata", "spec", "status":
		default:
			if strings.EqualFold(name, "kind") || strings.EqualFold(name, "apiVersion") {
				return false
			}
		}
	}
	return true
}

// interpret finds kind and version as the server's serializer does before all
// else: by encoding/json, which takes any case. See
// k8s.io/apimachinery/pkg/runtime/serializer/json.SimpleMetaFactory.
func interpret(body []byte) (gvk runtimeschema.GroupVersionKind, err error) {
	var found struct { // its form is in errors
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return gvk, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	gv, err := runtimeschema.ParseGroupVersion(found.APIVersion)
	if err != nil {
		return gvk, err
	}
	return gv.WithKind(found.Kind), nil
}

// decodeBody reads a body as the server's serializer does; gvk is what it is
// taken for if there is an error. A decoder that is not strict words a missing kind differently.
func decodeBody(body []byte, want runtimeschema.GroupVersionKind, strictly bool) (obj map[string]any, strict []StrictError, gvk runtimeschema.GroupVersionKind, err error) {
	if gvk, err = interpret(body); err != nil {
		return nil, nil, gvk, err
	}
	if gvk.Kind == "" {
		gvk.Kind = want.Kind
	}
	if gvk.Version == "" && (gvk.Group == "" || gvk.Group == want.Group) {
		gvk.Version = want.Version
	}
	obj = map[string]any{}
	duplicates, err := kjson.UnmarshalStrict(body, &obj)
	if err != nil {
		return nil, nil, gvk, err
	}
	got := (&unstructured.Unstructured{Object: obj}).GroupVersionKind()
	if got.Kind != "" || strictly { // a decoder that is not strict fails before it reads the kind
		gvk = got
	}
	if got.Kind == "" {
		return nil, nil, gvk, runtime.NewMissingKindErr(string(body))
	}
	for _, err := range duplicates {
		strict = append(strict, duplicateField(err))
	}
	return obj, strict, gvk, nil
}

// duplicateField is what the strict decoder tells of a body.
func duplicateField(err error) StrictError {
	e := StrictError{Message: err.Error(), Duplicate: true}
	if f, ok := err.(kjson.FieldError); ok {
		e.Field = f.FieldPath()
	}
	return e
}

// unknownField is what pruning tells of an object: the path stands in the text
// as it is.
func unknownField(path string) StrictError {
	return StrictError{Field: path, Message: `unknown field "` + path + `"`}
}

func (e StrictError) Error() string { return e.Message }

// unreadable is the server's answer to an object that decodes, and then is not
// what it takes.
func (e *Engine) unreadable(obj map[string]any, err error) *unread {
	got := runtimeschema.GroupVersionKind{Version: versionOf(obj), Kind: asString(obj["kind"])}
	return &unread{respond.Unreadable(got, e.kind, nil, err), err}
}
