package engine

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine/internal/metadata"
	"github.com/celadon-cel/celadon/engine/internal/respond"
	"github.com/celadon-cel/celadon/engine/x/schema"
)

type coercion struct {
	// repair drops malformed metadata, as reading from storage does. Otherwise malformed metadata is an error.
	repair bool
	track  bool
	// noStatus does not add a missing status when filling in defaults.
	fill, noStatus bool
	// done is set if everything but the metadata already has the form of the schema.
	done bool
}

// coerce prunes an object as the API server does after decoding it from a request or from storage. It does not modify
// obj; the result may share memory with it.
func (e *Engine) coerce(obj map[string]any, v *crdVersion, c coercion) (coerced map[string]any, unknown []string, err error) {
	if _, err := stringField(obj, "kind"); err != nil {
		return nil, nil, err
	}
	apiVersion, err := stringField(obj, "apiVersion")
	if err != nil {
		return nil, nil, err
	}
	meta, unknown, err := c.metadata(obj)
	if err != nil {
		return nil, nil, err
	}
	if _, err := runtimeschema.ParseGroupVersion(apiVersion); err != nil {
		return nil, nil, err
	}
	coerced = obj
	if e.owns(obj) {
		if !c.done {
			var paths []string
			if coerced, paths, err = c.body(obj, v); err != nil {
				return nil, nil, err
			}
			unknown = append(unknown, paths...)
		}
		if c.repair && meta != nil && meta[generation] == nil {
			meta = maps.Clone(meta)
			meta[generation] = int64(1) // very old objects have no generation
		}
	}
	return withMetadata(coerced, obj, meta), unknown, nil
}

// withMetadata does not modify original.
func withMetadata(coerced, original, meta map[string]any) map[string]any {
	if meta == nil {
		return coerced
	}
	if had, ok := coerced["metadata"].(map[string]any); ok && sameMapping(had, meta) {
		return coerced
	}
	if sameMapping(coerced, original) {
		coerced = maps.Clone(coerced)
	}
	coerced["metadata"] = meta
	return coerced
}

// sameMapping compares the identity of maps, not their contents.
func sameMapping(a, b map[string]any) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

func (c coercion) metadata(obj map[string]any) (meta map[string]any, unknown []string, err error) {
	raw, ok := obj["metadata"]
	if !ok {
		return nil, nil, nil
	}
	if plainMetadata(raw) {
		return raw.(map[string]any), nil, nil
	}
	decoded, unknown, err := metadata.Decoding{Repair: c.repair, Track: c.track}.Decode(raw, nil)
	if err != nil {
		return nil, nil, err
	}
	meta, err = runtime.DefaultUnstructuredConverter.ToUnstructured(decoded)
	return meta, unknown, err
}

func (c coercion) body(obj map[string]any, v *crdVersion) (coerced map[string]any, unknown []string, err error) {
	if v == nil {
		coerced, unknown = withoutFields(obj)
		return coerced, unknown, nil
	}
	coerced, unknown, fieldErr := v.values.Prepare(obj, schema.Preparation{
		Prune: !v.preserve, Track: c.track, Repair: c.repair, Default: c.fill, NoStatus: c.noStatus,
	})
	if fieldErr != nil { // fieldErr itself would be an error that is not nil
		return nil, nil, fieldErr
	}
	return coerced, unknown, nil
}

// An object keeps these fields if its version is not in the CRD.
func withoutFields(obj map[string]any) (left map[string]any, unknown []string) {
	left = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		switch name {
		case "apiVersion", "kind", "metadata":
			left[name] = obj[name]
		default:
			unknown = append(unknown, name)
		}
	}
	return left, unknown
}

func stringField(obj map[string]any, name string) (string, error) {
	v, ok := obj[name]
	if !ok {
		return "", nil
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf(".%s accessor error: %v is of the type %T, expected string", name, v, v)
	}
	return s, nil
}

// received decodes, prunes, and defaults the request's object, and returns the findings of strict decoding. A merged
// object is only decoded. If failed is set, obj holds as much as could be decoded. Unless whole is set, a missing
// status that the write does not use gets no default.
func (e *Engine) received(req *Request, whole bool) (obj map[string]any, strict []StrictError, failed *decodeFailure, err error) {
	obj, strict, failed, err = e.decode(req)
	if failed != nil || err != nil || req.Merged {
		return obj, nil, failed, err
	}
	v := e.versions[versionOf(obj)]
	track := req.fieldValidation() != metav1.FieldValidationIgnore
	keepsStatus := v != nil && v.hasStatus && req.Subresource == "" && !whole // the sent status is not used
	if req.Raw == nil && !schema.Decoded(obj) {
		return nil, nil, nil, checkTypes("", obj)
	}
	coerced, unknown, err := e.coerce(obj, v, coercion{track: track, fill: true, noStatus: keepsStatus})
	if err != nil {
		return obj, nil, e.unreadable(obj, err), nil
	}
	if !track {
		return coerced, nil, nil, nil
	}
	if req.DuplicateKeys != nil {
		strict = slices.Insert(strict, 0, StrictError{Message: req.DuplicateKeys.Error(), Duplicate: true})
	}
	for _, path := range unknown {
		strict = append(strict, unknownField(path))
	}
	return coerced, strict, nil, nil
}

func (e *Engine) owns(obj map[string]any) bool {
	group, _, versioned := strings.Cut(asString(obj["apiVersion"]), "/")
	if !versioned {
		group = ""
	}
	return group == e.info.GroupKind.Group && obj["kind"] == e.info.GroupKind.Kind
}

// wrongVersion returns nil if the CRD serves the object's version.
func (e *Engine) wrongVersion(obj map[string]any) *metav1.Status {
	if e.endpoint(obj) != nil {
		return nil
	}
	gv, _ := runtimeschema.ParseGroupVersion(asString(obj["apiVersion"]))
	return respond.BadRequest("the API version in the data (%s) does not match the expected API version (%s)", gv, runtimeschema.GroupVersion{Group: e.info.GroupKind.Group, Version: e.preferred()})
}

func (e *Engine) endpoint(obj map[string]any) *crdVersion {
	gv, _ := runtimeschema.ParseGroupVersion(asString(obj["apiVersion"]))
	if v := e.versions[gv.Version]; gv.Group == e.info.GroupKind.Group && v != nil && v.served {
		return v
	}
	return nil
}

// preferred returns the version that clients use by default, or "".
func (e *Engine) preferred() string {
	if len(e.info.Served) == 0 {
		return ""
	}
	return e.info.Served[0]
}

func versionOf(obj map[string]any) string {
	apiVersion := asString(obj["apiVersion"])
	if _, version, ok := strings.Cut(apiVersion, "/"); ok {
		return version
	}
	return apiVersion
}

func asString(v any) string {
	s, _ := v.(string)
	return s
}

func (r *Request) fieldValidation() string {
	if r.FieldValidation == "" {
		return metav1.FieldValidationWarn
	}
	return r.FieldValidation
}

// checkTypes returns an error that names a value in v that is not decoded JSON. v must contain such a value.
func checkTypes(path string, v any) error {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !schema.Decoded(v[name]) {
				return checkTypes(child(path, name), v[name])
			}
		}
	case []any:
		for i, item := range v {
			if !schema.Decoded(item) {
				return checkTypes(fmt.Sprintf("%s[%d]", path, i), item)
			}
		}
	}
	return fmt.Errorf("%s: Go type %T in the request's object (want a type that engine.Decode returns: map[string]any, []any, string, int64, float64, bool, or nil)", path, v)
}

// stored returns the old object as the server reads it from storage in version v: converted to the storage
// version, defaulted there, without malformed metadata, and converted to v.
func (e *Engine) stored(ctx context.Context, old map[string]any, v *crdVersion) (map[string]any, error) {
	if !schema.Decoded(old) {
		return nil, checkTypes("", old)
	}
	from := e.versions[versionOf(old)]
	if e.webhook && from != v && e.info.Config.Converter == nil {
		return nil, &NotCheckedError{fmt.Sprintf("the old object is in version %s, the new one in %s, and the CRD converts with a webhook: use the same version for both", versionOf(old), v.name)}
	}
	if e.webhook && from != nil && from != e.storageVersionOf(v) {
		var err error // a converter gets objects as they were accepted in their version
		if old, _, err = e.coerce(old, from, coercion{repair: true, fill: true}); err != nil {
			return nil, err
		}
	}
	kept, err := e.inVersion(ctx, old, e.storageVersionOf(v))
	if err != nil {
		return nil, err
	}
	return e.readBack(ctx, kept, v, false)
}

// persisted returns an accepted object as a later read in its version returns it (read) and as it is stored (kept).
// If prepared is set, obj already has the form of v, except that its status may have been removed.
func (e *Engine) persisted(ctx context.Context, obj map[string]any, v *crdVersion, prepared bool) (read, kept map[string]any, err error) {
	home := e.storageVersionOf(v)
	if kept, err = e.converted(ctx, obj, home); err != nil {
		return nil, nil, err
	}
	filled, done := kept, prepared && home == v && v.values.Settled()
	if done {
		filled = v.values.FillRoot(kept)
	}
	read, err = e.readBack(ctx, filled, v, done)
	return read, kept, err
}

func (e *Engine) storageVersionOf(v *crdVersion) *crdVersion {
	if e.webhook && e.info.Config.Converter == nil {
		return v // the webhook's result is unknown
	}
	return e.storage
}

// readBack reads an object from storage in version v. The result may share memory with kept. If done is set, only the
// metadata is processed before the conversion.
func (e *Engine) readBack(ctx context.Context, kept map[string]any, v *crdVersion, done bool) (map[string]any, error) {
	read, _, err := e.coerce(kept, e.storageVersionOf(v), coercion{repair: true, fill: true, done: done})
	if err != nil {
		return nil, err
	}
	return e.converted(ctx, read, v)
}

// converted is like inVersion, but any result that differs from obj is pruned.
func (e *Engine) converted(ctx context.Context, obj map[string]any, v *crdVersion) (map[string]any, error) {
	converted, err := e.inVersion(ctx, obj, v)
	if err != nil || e.webhook || sameMapping(converted, obj) {
		return converted, err
	}
	converted, _, err = e.coerce(converted, v, coercion{})
	return converted, err
}
