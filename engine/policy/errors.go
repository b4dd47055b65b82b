package policy

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/celadon-cel/celadon/engine/x/eval"
)

// A CompileError describes a document that the API server would reject, or an expression that does
// not compile.
type CompileError struct {
	// Document is the index of the document in the argument of Compile. Kind and Name are its own.
	Document   int
	Kind, Name string
	// Path is the field, such as "spec.validations[0].expression", or "" for the whole document.
	Path string
	// Detail is the problem and what to do about it. For an expression it is the server's message.
	Detail string
	// Offset is the position of the mistake in the expression, in code points, or 0.
	Offset int
	// Dropped is set if the document, or the webhook at Path, has no effect in the Set. Otherwise only the expression is
	// invalid, and each request that evaluates it fails, as in a server that stores the policy.
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

// CompileErrors holds the errors of all documents, in their order.
type CompileErrors struct{ Errors []*CompileError }

func (e *CompileErrors) Error() string {
	texts := make([]string, len(e.Errors))
	for i, one := range e.Errors {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "\n")
}

// An InternalError is a bug in Celadon, never a verdict. Please report it.
type InternalError struct {
	// Policy is the policy that was being compiled or evaluated, or "".
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

// recovered is deferred: it makes a panic the error of a function, whose other result is out. at is the policy.
func recovered[T any](at *string, out *T, err *error) {
	if p := recover(); p != nil {
		var none T
		*out, *err = none, internal(*at, p)
	}
}

// internal returns the error for a recovered panic, or for an internal error of the evaluator.
func internal(policy string, p any) *InternalError {
	switch p := p.(type) {
	case *InternalError:
		return p
	case *eval.InternalError:
		return &InternalError{Policy: policy, Reason: fmt.Sprint(p.Panic), Stack: p.Stack}
	}
	return &InternalError{Policy: policy, Reason: fmt.Sprint(p), Stack: debug.Stack()}
}
