package conversion

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

// Converter is an engine.Converter that checks results as the API server does.
type Converter struct {
	// The errors of make are of type *Error. It does not check the result.
	make func(context.Context, engine.Conversion) (map[string]any, error)
}

// Failure is the kind of a failed conversion.
type Failure uint8

const (
	// NoAnswer means that there was no response that could be decoded.
	NoAnswer Failure = iota
	// TooSlow means that there was no response in time.
	TooSlow
	// Panicked means that a Go function panicked.
	Panicked
	// Failed means that the converter returned an error.
	Failed
	// Wrong means that the API server would reject the converter's result.
	Wrong
)

// Error is a failed conversion.
type Error struct {
	Failure Failure
	// Text is the message, worded like the API server's.
	Text string
}

func (e *Error) Error() string { return e.Text }

// Unwrap returns an *engine.NotCheckedError if Failure is NoAnswer, TooSlow, or Panicked, and nil otherwise.
func (e *Error) Unwrap() error {
	if e.Failure <= Panicked {
		return &engine.NotCheckedError{Reason: e.Text}
	}
	return nil
}

func failed(kind Failure, q engine.Conversion, format string, args ...any) *Error {
	return &Error{kind, "conversion webhook for " + kindOf(q.Object).String() + " " + fmt.Sprintf(format, args...)}
}

// Convert converts an object to another version. Its errors are of type *Error, or ctx.Err() if ctx
// is done.
func (c *Converter) Convert(ctx context.Context, q engine.Conversion) (map[string]any, error) {
	if q.Object["apiVersion"] == q.APIVersion {
		return q.Object, nil
	}
	if empty(q.Object) { // sent by the API server's own health check
		return map[string]any{"apiVersion": q.APIVersion, "kind": q.Object["kind"]}, nil
	}
	made, err := c.make(ctx, q)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		made, err = checked(q, made)
	}
	var failed *Error
	if errors.As(err, &failed) {
		err = &Error{failed.Failure, preview.Bytes(failed.Text, maxErrorText)}
	}
	return made, err
}

// maxErrorText limits an error, in bytes. Converters are untrusted, and a report can contain an error for each
// object.
const maxErrorText = 16 << 10

func empty(obj map[string]any) bool {
	_, kind := obj["kind"]
	_, apiVersion := obj["apiVersion"]
	return len(obj) == 2 && kind && apiVersion
}

func kindOf(obj map[string]any) runtimeschema.GroupVersionKind {
	u := unstructured.Unstructured{Object: obj}
	return u.GroupVersionKind()
}

// Func returns a Converter that calls a Go function. The function receives a copy of the object, which it may modify
// and return, and the requested apiVersion. Its error is treated like an error that a webhook reports. A panic is an
// error with the Failure Panicked. Its time is not limited, unless it checks its context.
func Func(f func(ctx context.Context, obj map[string]any, apiVersion string) (map[string]any, error)) *Converter {
	return &Converter{make: func(ctx context.Context, q engine.Conversion) (out map[string]any, err error) {
		defer func() {
			if p := recover(); p != nil {
				out, err = nil, failed(Panicked, q, "failed: the converter panicked: %v", p)
			}
		}()
		out, err = f(ctx, runtime.DeepCopyJSON(q.Object), q.APIVersion)
		switch {
		case err != nil:
			return nil, failed(Failed, q, "failed: %v", err)
		case out == nil:
			return nil, failed(Wrong, q, "failed: the converter returned no object")
		}
		return maps.Clone(out), nil
	}}
}

// None returns a Converter for the strategy None, which only changes apiVersion. The engine prunes
// fields that the other version does not have.
func None() *Converter {
	return Func(func(_ context.Context, obj map[string]any, apiVersion string) (map[string]any, error) {
		obj["apiVersion"] = apiVersion
		return obj, nil
	})
}
