package conversion

import (
	"context"
	"fmt"

	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
)

// Converter is an engine.Converter that checks its answers as the server does.
type Converter struct {
	// make has somebody convert; its errors are of type *Error.
	make func(context.Context, engine.Conversion) (map[string]any, error)
}

// Failure is how a conversion failed.
type Failure uint8

const (
	// NoAnswer: nobody answered, or not in a form that can be read.
	NoAnswer Failure = iota
	// TooSlow: there was no answer in time.
	TooSlow
	// Panicked: a Go function did.
	Panicked
	// Failed: the converter says that it cannot.
	Failed
	// Wrong: the server refuses what the converter made.
	Wrong
)

// Error is a conversion that failed.
type Error struct {
	Failure Failure
	// Text is the server's.
	Text string
}

func (e *Error) Error() string { return e.Text }

// Unwrap says by an *engine.NotCheckedError where there was no answer.
func (e *Error) Unwrap() error {
	if e.Failure <= Panicked {
		return &engine.NotCheckedError{Reason: e.Text}
	}
	return nil
}

// failed is an error in the server's words.
func failed(what Failure, q engine.Conversion, format string, args ...any) *Error {
	return &Error{what, "conversion webhook for " + kindOf(q.Object).String() + " " + fmt.Sprintf(format, args...)}
}

// Convert asks for one object in another version. Its errors are of type *Error,
// or a cancelled context's.
func (c *Converter) Convert(ctx context.Context, q engine.Conversion) (map[string]any, error) {
	if q.Object["apiVersion"] == q.APIVersion {
		return q.Object, nil
	}
	if empty(q.Object) { // which the server's own health check sends
		return map[string]any{"apiVersion": q.APIVersion, "kind": q.Object["kind"]}, nil
	}
	made, err := c.make(ctx, q)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	}
	return checked(q, made)
}

// empty says that an object has nothing to convert.
func empty(obj map[string]any) bool {
	_, kind := obj["kind"]
	_, apiVersion := obj["apiVersion"]
	return len(obj) == 2 && kind && apiVersion
}

func kindOf(obj map[string]any) runtimeschema.GroupVersionKind {
	apiVersion, _ := obj["apiVersion"].(string)
	kind, _ := obj["kind"].(string)
	gv, err := runtimeschema.ParseGroupVersion(apiVersion)
	if err != nil {
		return runtimeschema.GroupVersionKind{}
	}
	return gv.WithKind(kind)
}
