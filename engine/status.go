package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// causes gives each finding the server's words, and an order.
func causes(findings []finding) []Cause {
	out := make([]Cause, len(findings))
	for i, f := range findings {
		out[i] = Cause{
			Type:    f.err.Type,
			Reason:  metav1.CauseType(f.err.Type),
			Field:   f.err.Field,
			Message: f.err.ErrorBody(),
			Detail:  f.err.Detail,
			Value:   f.err.BadValue,
		}
		if _, omitted := f.err.BadValue.(field.OmitValueType); omitted {
			out[i].Value = nil
		}
		if f.rule != nil {
			out[i].Rule = &f.rule.ref
		}
	}
	slices.SortStableFunc(out, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Message, b.Message))
	})
	return out
}

// invalid is the Status that refuses an object with causes. Its message has the
// server's order; the server's own function takes quadratic time for it.
func invalid(obj *unstructured.Unstructured, findings []finding, causes []Cause) *metav1.Status {
	gk := obj.GroupVersionKind().GroupKind()
	status := apierrors.NewInvalid(gk, obj.GetName(), nil).ErrStatus
	for _, c := range causes {
		status.Details.Causes = append(status.Details.Causes, metav1.StatusCause{Type: c.Reason, Field: c.Field, Message: c.Message})
	}
	var messages []string
	seen := make(map[string]bool, len(findings))
	for _, f := range findings {
		if message := f.err.Error(); !seen[message] {
			seen[message] = true
			messages = append(messages, message)
		}
	}
	detail := strings.Join(messages, ", ")
	if len(messages) > 1 {
		detail = "[" + detail + "]"
	}
	status.Message = fmt.Sprintf("%s %q is invalid: %s", gk, obj.GetName(), detail)
	return &status
}

// warnings are recorded once each, as the server's Warning headers.
type warnings struct{ texts []string }

func (w *warnings) add(text string) {
	if text != "" && !slices.Contains(w.texts, text) {
		w.texts = append(w.texts, text)
	}
}

// first puts a warning before all others: the server gives it before it reads
// the request.
func (w *warnings) first(text string) {
	if text != "" {
		w.texts = append([]string{text}, w.texts...)
	}
}
