package engine

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (s server) causes(findings []finding) []Cause {
	out := make([]Cause, len(findings))
	for i, f := range findings {
		out[i] = Cause{
			Type:    f.err.Type,
			Reason:  metav1.CauseType(f.err.Type),
			Field:   f.err.Field,
			Message: s.bodyOf(f.err),
			Detail:  f.err.Detail,
			Value:   f.err.BadValue,
			Kind:    f.kind,
		}
		if _, omitted := f.err.BadValue.(field.OmitValueType); omitted {
			out[i].Value = nil
		}
		if f.rule != nil {
			out[i].Rule = &f.rule.ref
		}
	}
	return out
}

// For the errors that most rules produce, bodyOf avoids fmt.
func (s server) bodyOf(err *field.Error) string {
	if err.Type != field.ErrorTypeInvalid || err.Detail == "" {
		return s.render().Body(err)
	}
	switch value := err.BadValue.(type) {
	case field.OmitValueType:
		return err.Type.String() + ": " + err.Detail
	case string:
		return err.Type.String() + ": " + strconv.Quote(value) + ": " + err.Detail
	}
	return s.render().Body(err)
}

func sortCauses(causes []Cause) {
	slices.SortStableFunc(causes, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Message, b.Message))
	})
}

// invalid also sorts causes. The message lists them in their original order, like the server's. The server's own
// function takes quadratic time.
func invalid(gk runtimeschema.GroupKind, name string, causes []Cause) *metav1.Status {
	status := &metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnprocessableEntity,
		Reason:  metav1.StatusReasonInvalid,
		Message: message(gk.String(), name, causes),
		Details: &metav1.StatusDetails{Group: gk.Group, Kind: gk.Kind, Name: name},
	}
	sortCauses(causes)
	status.Details.Causes = make([]metav1.StatusCause, len(causes))
	for i, c := range causes {
		status.Details.Causes[i] = metav1.StatusCause{Type: c.Reason, Field: c.Field, Message: c.Message}
	}
	return status
}

func message(kind, name string, causes []Cause) string {
	name = strconv.Quote(name)
	if len(causes) == 1 {
		return kind + " " + name + " is invalid: " + causes[0].Field + ": " + causes[0].Message
	}
	var all []string
	seen := make(map[string]bool, len(causes))
	for _, c := range causes {
		if text := c.Field + ": " + c.Message; !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	if len(all) == 1 {
		return kind + " " + name + " is invalid: " + all[0]
	}
	return kind + " " + name + " is invalid: [" + strings.Join(all, ", ") + "]"
}
