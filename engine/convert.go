package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/x/schema"
)

// A Converter converts objects between the versions of a CRD that uses a conversion webhook. Package
// engine/conversion has implementations. Convert may be called concurrently. If it panics, the panic is reported as
// an internal error.
type Converter interface {
	// Convert returns the object in another version. If the error is or wraps a *NotCheckedError, the verdict is
	// unknown. Unless ctx is done, the text of any other error is used as the server's message to the client.
	Convert(ctx context.Context, c Conversion) (map[string]any, error)
}

// A Conversion is a request to a Converter.
type Conversion struct {
	// Object is the object in its current version. Convert must not modify it.
	Object map[string]any
	// APIVersion is the apiVersion that the result must have, such as "example.com/v2".
	APIVersion string
	// ReviewVersions is the CRD's conversionReviewVersions.
	ReviewVersions []string
}

// Convert returns the object as a read in the given version returns it after it was stored: pruned, converted to the
// storage version, defaulted, and converted to version. It accepts obj in any version of the CRD, and neither
// validates nor modifies it. It returns a *NotCheckedError, possibly wrapped, if only a conversion webhook could
// determine the result.
//
// If version is empty, Convert returns the object as converted to the storage version, without the defaults of that
// version. If the CRD converts by a webhook and Config.Converter is nil, the object stays in its version. An object
// that is already in the wanted version is not pruned.
func (e *Engine) Convert(ctx context.Context, obj map[string]any, version string) (out map[string]any, err error) {
	defer catch(&out, &err)
	v, from := e.versions[version], e.versions[versionOf(obj)]
	switch {
	case v == nil && version != "":
		return nil, fmt.Errorf("version %q: the CRD has %s", version, strings.Join(e.info.Versions, ", "))
	case from == nil || !e.owns(obj):
		return nil, e.wrongKind(obj)
	case version == "":
		return e.toStorage(ctx, obj, from)
	}
	return e.stored(ctx, obj, v)
}

func (e *Engine) toStorage(ctx context.Context, obj map[string]any, from *crdVersion) (map[string]any, error) {
	if !schema.Decoded(obj) {
		return nil, checkTypes("", obj)
	}
	return e.converted(ctx, obj, e.storageVersionOf(from))
}

func (e *Engine) wrongKind(obj map[string]any) error {
	return fmt.Errorf("object: got %s, kind %s: want %s in one of the versions %v", asString(obj["apiVersion"]), asString(obj["kind"]), e.info.GroupKind, e.info.Versions)
}

type conversionError struct{ error }

func (e conversionError) Unwrap() error { return e.error }

func reviewVersions(crd *apiextensionsv1.CustomResourceDefinition) []string {
	if c := crd.Spec.Conversion; c != nil && c.Webhook != nil {
		return c.Webhook.ConversionReviewVersions
	}
	return nil
}

// inVersion prunes only the result of a webhook.
func (e *Engine) inVersion(ctx context.Context, obj map[string]any, v *crdVersion) (map[string]any, error) {
	if _, ok := obj["apiVersion"]; !ok || versionOf(obj) == v.name {
		return obj, nil
	}
	if e.webhook {
		return e.callConverter(ctx, obj, v)
	}
	obj = maps.Clone(obj)
	obj["apiVersion"] = v.apiVersion
	return obj, nil
}

func (e *Engine) callConverter(ctx context.Context, obj map[string]any, v *crdVersion) (map[string]any, error) {
	if e.versions[versionOf(obj)] == nil {
		return nil, conversionError{fmt.Errorf("request to convert CR from an invalid group/version: %s", asString(obj["apiVersion"]))}
	}
	out, err := e.info.Config.Converter.Convert(ctx, Conversion{Object: obj, APIVersion: v.apiVersion, ReviewVersions: e.reviewVersions})
	var unknown *NotCheckedError
	switch {
	case errors.As(err, &unknown):
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, conversionError{err}
	}
	if !schema.Decoded(out) {
		return nil, fmt.Errorf("converter: %w", checkTypes("", out))
	}
	out, _, err = e.coerce(out, v, coercion{})
	if err != nil {
		return nil, conversionError{err}
	}
	return out, nil
}
