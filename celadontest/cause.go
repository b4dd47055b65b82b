package celadontest

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Cause describes a cause of a refusal; what is empty matches any. A refusal
// without causes, as that of an unknown field, is a cause without Field.
type Cause struct {
	// Field is the whole path, as "spec.ports[0].name".
	Field string
	// Message is a part of the server's text.
	Message string
	// Reason is as metav1.CauseTypeFieldValueInvalid.
	Reason metav1.CauseType
}

// Field is the cause at a field.
func Field(path string) Cause { return Cause{Field: path} }

// Message is the cause whose text has a part.
func Message(part string) Cause { return Cause{Message: part} }

// Reason is the cause of a reason.
func Reason(reason metav1.CauseType) Cause { return Cause{Reason: reason} }

func (c Cause) matches(got *engine.Cause) bool {
	return (c.Field == "" || c.Field == got.Field) && (c.Reason == "" || c.Reason == got.Reason) && strings.Contains(got.Message, c.Message)
}

// String is the cause as failures show it.
func (c Cause) String() string {
	var parts []string
	for _, part := range []string{c.Field, string(c.Reason), c.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "any cause"
	}
	return strings.Join(parts, ": ")
}

// unchecked is what the server adds where rules did not run because of other causes.
const unchecked = "some validation rules were not checked because the object was invalid"

// said are the causes of a refusal; one without any is a cause of its own.
func said(res *engine.Result) []engine.Cause {
	if len(res.Causes) == 0 {
		return []engine.Cause{{Reason: metav1.CauseType(res.Failure.Reason), Message: res.Failure.Message}}
	}
	return res.Causes
}

// mismatch is what is wrong about a refusal: causes that were wanted and are not
// there, or the other way round.
func mismatch(want []Cause, res *engine.Result) string {
	if len(want) == 0 {
		return ""
	}
	got := said(res)
	var b strings.Builder
	for _, w := range want {
		if !slices.ContainsFunc(got, func(c engine.Cause) bool { return w.matches(&c) }) {
			untrusted.Fprintf(&b, "\n  not for: %s", w.String())
		}
	}
	for i := range got {
		matched := slices.ContainsFunc(want, func(w Cause) bool { return w.matches(&got[i]) })
		if !matched && (got[i].Rule != nil || !strings.HasPrefix(got[i].Detail, unchecked)) {
			untrusted.Fprintf(&b, "\n  and also for: %s", line(&got[i]))
		}
	}
	return b.String()
}

// wanted is a list of causes below a line.
func wanted(causes []Cause) string {
	var b strings.Builder
	for _, c := range causes {
		untrusted.Fprintf(&b, "\n  for: %s", c.String())
	}
	return b.String()
}

// line is a cause as "field: message".
func line(c *engine.Cause) string { return strings.TrimPrefix(c.Field+": "+c.Message, ": ") }
