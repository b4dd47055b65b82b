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
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/engine/internal/respond"
	"github.com/celadon-cel/celadon/engine/x/schema"
)

// Decode decodes a JSON object as the API server does: integers become int64 if they fit, and other
// numbers float64, names are case-sensitive, and the last of duplicate keys wins. See sigs.k8s.io/json.
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

type decodeFailure struct {
	status *metav1.Status
	why    error
}

func (e *Engine) decode(req *Request) (obj map[string]any, strict []StrictError, failed *decodeFailure, err error) {
	body := req.Raw
	if body == nil {
		plain := plainType(req.Object)
		if plain && !req.Merged {
			return req.Object, nil, nil, nil // the caller checks the types while it prunes
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
		return req.Object, nil, &decodeFailure{respond.Unreadable(gvk, e.info.GroupKind.Kind, body, err), err}, nil
	}
	if req.Raw == nil {
		obj = req.Object // encoding may have changed its numbers
	}
	return obj, strict, nil, nil
}

func (e *Engine) kindOf(version string) runtimeschema.GroupVersionKind {
	return runtimeschema.GroupVersionKind{Group: e.info.GroupKind.Group, Version: version, Kind: e.info.GroupKind.Kind}
}

// plainType reports whether interpret would find the object's kind and apiVersion, so that the object need not be
// encoded. A false result may be wrong.
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

// interpret returns the group, version, and kind of a body as the server's serializer determines them before
// decoding. It uses encoding/json, which ignores the case of field names. See
// k8s.io/apimachinery/pkg/runtime/serializer/json.SimpleMetaFactory.
func interpret(body []byte) (gvk runtimeschema.GroupVersionKind, err error) {
	var found struct { // error messages contain this type
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

// decodeBody decodes a body as the server's serializer does. If it returns an error, gvk is the type that the server
// names in its message.
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
	if got.Kind != "" || strictly { // a non-strict decoder fails before it reads the kind
		gvk = got
	}
	if got.Kind == "" {
		return nil, nil, gvk, runtime.NewMissingKindErr(string(body))
	}
	for _, err := range duplicates {
		strict = append(strict, strictError(err))
	}
	return obj, strict, gvk, nil
}

func strictError(err error) StrictError {
	e := StrictError{Message: err.Error(), Duplicate: !strings.HasPrefix(err.Error(), "unknown field ")}
	if f, ok := err.(kjson.FieldError); ok {
		e.Field = f.FieldPath()
	}
	return e
}

// Like the server, unknownField does not escape the path.
func unknownField(path string) StrictError {
	return StrictError{Field: path, Message: `unknown field "` + path + `"`}
}

func (e StrictError) Error() string { return e.Message }

// Warnings returns the server's warnings about the error. An error of the YAML decoder that lists several problems
// becomes a warning for each. See addStrictDecodingWarnings in k8s.io/apiserver/pkg/endpoints/handlers.
func (e StrictError) Warnings() []string {
	text := strings.TrimPrefix(e.Message, "error converting YAML to JSON: ")
	text, ofYAML := strings.CutPrefix(text, "yaml: unmarshal errors:\n")
	if !ofYAML {
		return []string{e.Message}
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return lines
}

func (e *Engine) unreadable(obj map[string]any, err error) *decodeFailure {
	got := runtimeschema.GroupVersionKind{Version: versionOf(obj), Kind: asString(obj["kind"])}
	shown := err
	if of := (*field.Error)(nil); errors.As(err, &of) {
		shown = errors.New(e.server.render().Error(of))
	}
	return &decodeFailure{respond.Unreadable(got, e.info.GroupKind.Kind, nil, shown), err}
}
