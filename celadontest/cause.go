package celadontest

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// A Cause describes an expected cause of a rejection. Empty fields match anything. A rejection
// without causes, for example because of an unknown field, matches as a cause without a field.
type Cause struct {
	// Field is the complete path, such as "spec.ports[0].name".
	Field string
	// Message is a part of the server's message.
	Message string
	// Reason is a cause type such as metav1.CauseTypeFieldValueInvalid.
	Reason metav1.CauseType
}

// Field returns a Cause that matches causes at path.
func Field(path string) Cause { return Cause{Field: path} }

// Message returns a Cause that matches messages that contain part.
func Message(part string) Cause { return Cause{Message: part} }

// Reason returns a Cause that matches causes with the given reason.
func Reason(reason metav1.CauseType) Cause { return Cause{Reason: reason} }

func (c Cause) matches(got *engine.Cause) bool {
	return (c.Field == "" || c.Field == got.Field) && (c.Reason == "" || c.Reason == got.Reason) && strings.Contains(got.Message, c.Message)
}

// String returns the cause as it is shown in failures.
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

// causesOf returns the causes of a rejection. A rejection without causes is returned as a single cause.
func causesOf(res *engine.Result) []engine.Cause {
	if len(res.Causes) == 0 {
		return []engine.Cause{{Reason: metav1.CauseType(res.Failure.Reason), Message: res.Failure.Message}}
	}
	return res.Causes
}

// mismatch returns the difference between the wanted and the actual causes, or "" if they match. If
// want is empty, any causes match.
func mismatch(want []Cause, res *engine.Result) string {
	if len(want) == 0 {
		return ""
	}
	got := causesOf(res)
	var b strings.Builder
	for _, w := range want {
		if !slices.ContainsFunc(got, func(c engine.Cause) bool { return w.matches(&c) }) {
			untrusted.Fprintf(&b, "\n  not for: %s", w.String())
		}
	}
	for i := range got {
		matched := slices.ContainsFunc(want, func(w Cause) bool { return w.matches(&got[i]) })
		if !matched && got[i].Kind != engine.CauseRulesSkipped {
			untrusted.Fprintf(&b, "\n  and also for: %s", line(&got[i]))
		}
	}
	return b.String()
}

// wanted formats causes as a list that follows a line.
func wanted(causes []Cause) string {
	var b strings.Builder
	for _, c := range causes {
		untrusted.Fprintf(&b, "\n  for: %s", c.String())
	}
	return b.String()
}

// line formats a cause as "field: message".
func line(c *engine.Cause) string { return strings.TrimPrefix(c.Field+": "+c.Message, ": ") }
