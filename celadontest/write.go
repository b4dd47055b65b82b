package celadontest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/secret"
	"github.com/celadon-cel/celadon/x/trace"
)

// A Write is a create, an update, or a status update.
type Write struct {
	crds        *CRDs
	old         any
	update      bool
	subresource string
}

// Update returns an update of old. The current CRD need not accept old.
func (c *CRDs) Update(old any) Write { return Write{crds: c, old: old, update: true} }

// Status returns an update of the status subresource of old.
func (c *CRDs) Status(old any) Write {
	return Write{crds: c, old: old, update: true, subresource: "status"}
}

// Accepts calls Write.Accepts for a create.
func (c *CRDs) Accepts(t testing.TB, obj any) *unstructured.Unstructured {
	t.Helper()
	return Write{crds: c}.Accepts(t, obj)
}

// Rejects calls Write.Rejects for a create.
func (c *CRDs) Rejects(t testing.TB, obj any, causes ...Cause) *apierrors.StatusError {
	t.Helper()
	return Write{crds: c}.Rejects(t, obj, causes...)
}

// Err calls Write.Err for a create.
func (c *CRDs) Err(t testing.TB, obj any) error {
	t.Helper()
	return Write{crds: c}.Err(t, obj)
}

// Accepts fails the test unless the object is accepted. It returns the object as it would be
// persisted, after pruning and defaulting, or an empty object if it was not accepted.
func (w Write) Accepts(t testing.TB, obj any) *unstructured.Unstructured {
	t.Helper()
	v := w.decide(obj)
	switch {
	case v.err != nil:
		t.Errorf("celadontest: %v", v.err)
	case !v.result.Allowed:
		t.Errorf("celadontest: %s was rejected, want accepted%s", v, v.why())
	default:
		return &unstructured.Unstructured{Object: v.result.Object}
	}
	return &unstructured.Unstructured{}
}

// Rejects fails the test unless the object is rejected for exactly the given causes: each must
// match an actual cause, and each actual cause must be matched. The cause that rules were not
// checked because of other causes need not be given. Without causes, any rejection passes. Rejects
// returns the error that a client would receive, or an empty error without a rejection.
func (w Write) Rejects(t testing.TB, obj any, causes ...Cause) *apierrors.StatusError {
	t.Helper()
	v := w.decide(obj)
	switch {
	case v.err != nil:
		t.Errorf("celadontest: %v", v.err)
		return &apierrors.StatusError{}
	case v.result.Allowed:
		t.Errorf("celadontest: %s was accepted, want rejected%s", v, wanted(causes))
		return &apierrors.StatusError{}
	}
	if wrong := mismatch(causes, v.result); wrong != "" {
		t.Errorf("celadontest: %s was rejected%s%s", v, wrong, v.why())
	}
	return statusError(v.result.Failure)
}

// Err returns nil if the object is accepted, and a client's *apierrors.StatusError if it is
// rejected. Any other error fails the test and is returned.
func (w Write) Err(t testing.TB, obj any) error {
	t.Helper()
	v := w.decide(obj)
	switch {
	case v.err != nil:
		t.Errorf("celadontest: %v", v.err)
		return v.err
	case v.result.Allowed:
		return nil
	}
	return statusError(v.result.Failure)
}

// statusError returns an error with a copy of status, because the test may modify it.
func statusError(status *metav1.Status) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: *status.DeepCopy()}
}

type verdict struct {
	write  Write
	object map[string]any
	engine *engine.Engine
	result *engine.Result
	err    error // set without a verdict
}

func (w Write) decide(obj any) (v verdict) {
	v.write = w
	if v.object, v.err = w.crds.object(obj); v.err != nil {
		return v
	}
	validation := cmp.Or(w.crds.config.FieldValidation, metav1.FieldValidationStrict)
	req := engine.Request{Object: v.object, Subresource: w.subresource, FieldValidation: validation}
	if w.update {
		if req.OldObject, v.err = w.crds.object(w.old); v.err != nil {
			v.err = fmt.Errorf("old object: %w", v.err)
			return v
		}
	}
	kind := (&unstructured.Unstructured{Object: v.object}).GroupVersionKind().GroupKind()
	if v.engine, v.err = w.crds.Engine(kind); v.err != nil {
		return v
	}
	if v.result, v.err = w.crds.DecideKind(context.Background(), kind, req); v.err == nil && v.result.Undecided != nil {
		v.err = v.result.Undecided // there may be other causes
	}
	if v.err != nil {
		v.err = fmt.Errorf("%s: %w", v, v.err)
	}
	return v
}

// String describes the write and its object.
func (v verdict) String() string {
	operation := "create"
	switch {
	case v.write.subresource != "":
		operation = v.write.subresource + " update"
	case v.write.update:
		operation = "update"
	}
	u := &unstructured.Unstructured{Object: v.object}
	return string(untrusted.Sprintf("the %s of %s %q", operation, u.GetKind(), u.GetName()))
}

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

// String returns the cause as failures show it.
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

func causesOf(res *engine.Result) []engine.Cause {
	if len(res.Causes) == 0 {
		return []engine.Cause{{Reason: metav1.CauseType(res.Failure.Reason), Message: res.Failure.Message}}
	}
	return res.Causes
}

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

func wanted(causes []Cause) string {
	var b strings.Builder
	for _, c := range causes {
		untrusted.Fprintf(&b, "\n  for: %s", c.String())
	}
	return b.String()
}

func line(c *engine.Cause) string { return strings.TrimPrefix(c.Field+": "+c.Message, ": ") }

const (
	maxShown   = 20
	valueWidth = 80
)

// why formats the causes and the values that their rules read. Passwords in these values are masked.
func (v verdict) why() string {
	var b strings.Builder
	causes := causesOf(v.result)
	shown := causes[:min(len(causes), maxShown)]
	seen := v.result.Prepared
	explained, _ := trace.NewExplainer(v.engine).Explain(context.Background(), seen, shown, new(trace.Run).Allowance())
	var mask secret.Mask
	if seen != nil {
		kind := (&unstructured.Unstructured{Object: v.object}).GroupVersionKind().GroupKind()
		mask = secret.MaskOf(v.write.crds.Definition(kind), seen.Self, seen.Old)
	}
	for i := range shown {
		untrusted.Fprintf(&b, "\n  %s", line(&shown[i]))
		if rule := shown[i].Rule; rule != nil {
			head := "rule: "
			for text := range strings.Lines(strings.TrimSpace(rule.Rule)) {
				untrusted.Fprintf(&b, "\n    %s%s", head, strings.TrimSuffix(text, "\n"))
				head = "      "
			}
		}
		for _, value := range explained.Causes[i].Values {
			untrusted.Fprintf(&b, "\n      %s: %s", value.Expr, preview.JSON(mask.Piece(value.Value), valueWidth))
		}
		if why := explained.Causes[i].NotShown; why != "" {
			untrusted.Fprintf(&b, "\n      values not shown: %s", why)
		}
	}
	if more := len(causes) - len(shown); more > 0 {
		untrusted.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}
