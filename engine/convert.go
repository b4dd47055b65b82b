package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine/x/schema"
)

// Converter is asked where the API server asks the webhook by which a CRD
// converts between its versions; engine/conversion has some. It is called from
// many goroutines, and a panic of it is taken for a bug of ours.
type Converter interface {
	// Convert gives an object in another version. An error that is or wraps a
	// *NotCheckedError says that there was no answer; the text of any other is
	// the server's word to the client.
	Convert(ctx context.Context, c Conversion) (map[string]any, error)
}

// Conversion is what a Converter is asked for.
type Conversion struct {
	// Object has the version that it is in; it must not be changed.
	Object map[string]any
	// APIVersion, as "example.com/v2", is the one that the answer has to have.
	APIVersion string
	// ReviewVersions are the CRD's conversionReviewVersions.
	ReviewVersions []string
}

// Convert is an object as a read in a version shows it, once it is stored:
// pruned, taken to the storage version, defaulted there, and taken to the version
// asked for. The object given, in any version, is not validated and not modified.
// The error is a *NotCheckedError where only a webhook could tell.
func (e *Engine) Convert(ctx context.Context, obj map[string]any, version string) (out map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, bug(p)
		}
	}()
	v, from := e.versions[version], e.versions[versionOf(obj)]
	switch {
	case v == nil:
		return nil, fmt.Errorf("version %q: want one of the CRD's: %v", version, e.Versions())
	case from == nil || !e.owns(obj):
		return nil, e.notOurs(obj)
	}
	return e.stored(ctx, obj, v)
}

// ToStorage is an object as storage has it once it is written, before the defaults of
// the storage version. It is neither validated nor modified. Where a webhook converts and
// there is no Config.Converter it stays in its version.
func (e *Engine) ToStorage(ctx context.Context, obj map[string]any) (out map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, bug(p)
		}
	}()
	from := e.versions[versionOf(obj)]
	if from == nil || !e.owns(obj) {
		return nil, e.notOurs(obj)
	}
	if !schema.Decoded(obj) {
		return nil, checkTypes("", obj)
	}
	return e.converted(ctx, obj, e.home(from))
}

// notOurs is the error for an object that the engine does not know.
func (e *Engine) notOurs(obj map[string]any) error {
	return fmt.Errorf("object: got %s, kind %s: want %s in one of the versions %v", asString(obj["apiVersion"]), asString(obj["kind"]), e.GroupKind(), e.Versions())
}

// conversionError is a conversion that the server refuses.
type conversionError struct{ error }

func (e conversionError) Unwrap() error { return e.error }

// status is the server's answer to a write that needs the conversion.
func (e conversionError) status() *metav1.Status {
	return &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonUnknown, Message: e.Error()}
}

func reviewVersions(crd *apiextensionsv1.CustomResourceDefinition) []string {
	if c := crd.Spec.Conversion; c != nil && c.Webhook != nil {
		return c.Webhook.ConversionReviewVersions
	}
	return nil
}

// inVersion is an object as the CRD's conversion gives it. That of a webhook is
// pruned.
func (e *Engine) inVersion(ctx context.Context, obj map[string]any, v *crdVersion) (map[string]any, error) {
	if _, ok := obj["apiVersion"]; !ok || versionOf(obj) == v.name {
		return obj, nil
	}
	if e.webhook {
		return e.ask(ctx, obj, v)
	}
	obj = maps.Clone(obj)
	obj["apiVersion"] = v.apiVersion
	return obj, nil
}

// ask has the converter take an object to a version.
func (e *Engine) ask(ctx context.Context, obj map[string]any, v *crdVersion) (map[string]any, error) {
	if e.versions[versionOf(obj)] == nil {
		return nil, conversionError{fmt.Errorf("request to convert CR from an invalid group/version: %s", asString(obj["apiVersion"]))}
	}
	out, err := e.config.Converter.Convert(ctx, Conversion{Object: obj, APIVersion: v.apiVersion, ReviewVersions: e.reviewVersions})
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
