package schema

import (
	"errors"
	"fmt"
	"strings"

	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Errors inside branches are not dropped for unchanged parts of v.
func (r *report) logic(l *logic, v any, at *errorPath) (passed int) {
	if l == nil {
		return 1
	}
	some, someKept := r.anyOf(l.anyOf, v, at)
	one, oneKept := r.oneOf(l.oneOf, v, at)
	all, allKept := r.allOf(l.allOf, v, at)
	if l.not != nil && len(r.try(l.not, v, at).errs) == 0 {
		r.composite(validate.MustNotValidateSchemaError, at.String())
	}
	r.add(allKept...)
	r.add(oneKept...)
	r.add(someKept...)
	return some + one + all + 1
}

type branch struct {
	errs   []error
	passed int
}

func (r *report) try(n *node, v any, at *errorPath) branch {
	own := report{thorough: true, meter: r.meter}
	passed := own.value(n, v, at, oldValue{})
	return branch{own.errs, passed}
}

// The API server does not attribute these errors to a field.
func (r *report) composite(format string, args ...any) {
	r.add(openapierrors.New(openapierrors.CompositeErrorCode, format, args...))
}

func (r *report) best(failed *branch) (passed int) {
	if failed == nil {
		return 0
	}
	r.add(failed.errs...)
	return failed.passed
}

func (b *branch) beaten(by *branch) bool { return b == nil || by.passed > b.passed }

func (r *report) anyOf(branches []*node, v any, at *errorPath) (passed int, kept []error) {
	if len(branches) == 0 {
		return 0, nil
	}
	var failed *branch
	for _, n := range branches {
		b := r.try(n, v, at)
		if len(b.errs) == 0 {
			return b.passed, nil
		}
		kept = append(kept, b.important()...)
		if failed.beaten(&b) {
			failed = &b
		}
	}
	r.composite(validate.MustValidateAtLeastOneSchemaError, at.String())
	return r.best(failed), kept
}

func (r *report) oneOf(branches []*node, v any, at *errorPath) (passed int, kept []error) {
	if len(branches) == 0 {
		return 0, nil
	}
	var failed *branch
	valid := 0
	for _, n := range branches {
		b := r.try(n, v, at)
		if len(b.errs) == 0 {
			if valid++; valid == 1 {
				passed = b.passed
			}
			failed, kept = nil, nil
			continue
		}
		kept = append(kept, b.important()...)
		if valid == 0 && failed.beaten(&b) {
			failed = &b
		}
	}
	switch valid {
	case 0:
		r.composite(validate.MustValidateOnlyOneSchemaError, at.String(), "Found none valid")
		return r.best(failed), kept
	case 1:
		return passed, kept
	}
	r.composite(validate.MustValidateOnlyOneSchemaError, at.String(), fmt.Sprintf("Found %d valid alternatives", valid))
	return 0, kept
}

func (r *report) allOf(branches []*node, v any, at *errorPath) (passed int, kept []error) {
	valid := 0
	for _, n := range branches {
		b := r.try(n, v, at)
		if len(b.errs) == 0 {
			valid++
		}
		kept = append(kept, b.important()...)
		r.add(b.errs...)
		passed += b.passed
	}
	switch {
	case valid == len(branches):
	case valid == 0:
		r.composite(validate.MustValidateAllSchemasError, at.String(), ". None validated")
	default:
		r.composite(validate.MustValidateAllSchemasError, at.String(), "")
	}
	return passed, kept
}

// mark is a prefix of errors that are kept regardless of the branch that wins. An error can only have it if the name
// of a root property does.
const mark = "IMPORTANT!"

func (b *branch) important() (kept []error) {
	for _, err := range b.errs {
		if text, ok := strings.CutPrefix(err.Error(), mark); ok {
			kept = append(kept, errors.New(text))
		}
	}
	return kept
}
