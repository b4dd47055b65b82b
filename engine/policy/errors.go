package policy

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/celadon-cel/celadon/engine/x/eval"
)

// A CompileError describes a problem of a document, or of an expression in it.
type CompileError struct {
	// Document is the index of the document in the argument of Compile, and Kind and Name describe it.
	Document   int
	Kind, Name string
	// Path is the field, such as "spec.validations[0].expression", or "" for the whole document.
	Path string
	// Detail describes the problem. For an expression that the server cannot compile, it is the server's message.
	Detail string
	// Offset is the position of the mistake in the expression, in code points, or 0.
	Offset int
	// Dropped is set if the document, or the webhook at Path, has no effect in the Set. Otherwise only an expression
	// is invalid, and the policy or webhook is kept, as in a server that stores it.
	Dropped bool
}

func (e *CompileError) Error() string {
	text := e.Kind
	if e.Name != "" {
		text += " " + e.Name
	}
	if e.Path != "" {
		text += ": " + e.Path
	}
	return text + ": " + e.Detail
}

// CompileErrors holds all errors that Compile finds.
type CompileErrors struct{ Errors []*CompileError }

func (e *CompileErrors) Error() string {
	texts := make([]string, len(e.Errors))
	for i, one := range e.Errors {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "\n")
}

// An InternalError is a panic: a bug in Celadon, unless a function of the Request panicked. It is never a verdict.
// Please report it.
type InternalError struct {
	// Policy names the policy or document that was being compiled or evaluated, or is "".
	Policy string
	// Reason describes the failure.
	Reason string
	// Stack is the stack trace in the format of runtime/debug.Stack.
	Stack []byte
}

func (e *InternalError) Error() string {
	text := "internal error in celadon (please report it): "
	if e.Policy != "" {
		text += "policy " + e.Policy + ": "
	}
	return text + e.Reason
}

// recovered is deferred: it turns a panic into an error and clears out.
func recovered[T any](at *string, out *T, err *error) {
	if p := recover(); p != nil {
		var none T
		*out, *err = none, internal(*at, p)
	}
}

func internal(policy string, p any) *InternalError {
	switch p := p.(type) {
	case *InternalError:
		return p
	case *eval.InternalError:
		return &InternalError{Policy: policy, Reason: fmt.Sprint(p.Panic), Stack: p.Stack}
	}
	return &InternalError{Policy: policy, Reason: fmt.Sprint(p), Stack: debug.Stack()}
}
