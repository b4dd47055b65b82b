package vet

import (
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/internal/respond"
	"github.com/celadon-cel/celadon/internal/minors"
)

type olderText struct {
	in            minors.Range
	suffix        string // of the field
	newest, older string
	// beginning is set if newest is only the beginning of the detail.
	beginning bool
}

// olderTexts are from apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go, and
// apiserver, pkg/util/webhook/validation.go.
var olderTexts = []olderText{
	{in: minors.Until(34), suffix: "].message", newest: "must be non-empty if specified", older: "message must be non-empty if specified"},
	{in: minors.Until(34), suffix: "].message", newest: "must not contain line breaks", older: "message must not contain line breaks"},
	{in: minors.Until(34), suffix: "].fieldPath", newest: "must be non-empty if specified", older: "fieldPath must be non-empty if specified"},
	{in: minors.Until(34), suffix: "].fieldPath", newest: "must not contain line breaks", older: "fieldPath must not contain line breaks"},
	{in: minors.Until(34), suffix: "].fieldPath", newest: "must be a valid path", older: "fieldPath must be a valid path"},
	{in: minors.Until(34), suffix: "].schema.openAPIV3Schema", newest: "", older: "schemas are required"},
	{in: minors.Until(34), suffix: ".webhookClientConfig.service.name", newest: "", older: "service name is required"},
	{in: minors.Until(34), suffix: ".webhookClientConfig.service.namespace", newest: "", older: "service namespace is required"},
	{
		in: minors.Until(34), suffix: ".selectableFields", newest: "may only be set when `version.schema.openAPIV3Schema` is not included",
		older: "selectableFields may only be set when version.schema.openAPIV3Schema is not included",
	},
	{in: minors.Until(34), suffix: ".selectableFields", newest: "may only be set when validations.schema is included", older: "selectableFields may only be set when validations.schema is included"},
	{in: minors.Until(33), suffix: "]", newest: "missing from spec.versions; ", beginning: true, older: "must appear in spec.versions"},
}

func reword(err *field.Error, minor int) {
	for _, t := range olderTexts {
		same := err.Detail == t.newest || t.beginning && strings.HasPrefix(err.Detail, t.newest)
		if same && strings.HasSuffix(err.Field, t.suffix) && t.in.Include(minor) {
			err.Detail = t.older
			return
		}
	}
}

func (a *admission) body(err *field.Error) string {
	if r, ok := err.BadValue.(apiextensions.ValidationRule); ok && !jsonRules.Include(a.version.Minor) {
		shown := *err
		shown.BadValue = ruleText(ruleInGo(&r, a.version.Minor))
		err = &shown
	}
	text := respond.RendererFor(a.version.Minor).Body(err)
	if !selectableKnown.Include(a.version.Minor) { // the value may be a list of versions in Go syntax
		text = strings.ReplaceAll(text, ", SelectableFields:[]apiextensions.SelectableField(nil)", "")
	}
	return text
}

// jsonRules servers show a rule as JSON (apimachinery, pkg/util/validation/field/errors.go).
var jsonRules = minors.Since(34)

type ruleText string

func (t ruleText) GoString() string { return string(t) }

// The server shows the addresses of pointers, which are random. ruleInGo uses a constant instead.
func ruleInGo(r *apiextensions.ValidationRule, minor int) string {
	reason := "(*apiextensions.FieldValueErrorReason)(nil)"
	if r.Reason != nil {
		reason = "(*apiextensions.FieldValueErrorReason)(0xc000000000)"
	}
	text := fmt.Sprintf("apiextensions.ValidationRule{Rule:%q, Message:%q, MessageExpression:%q, Reason:%s, FieldPath:%q", r.Rule, r.Message, r.MessageExpression, reason, r.FieldPath)
	switch {
	case !optionalKnown.Include(minor):
		return text + "}"
	case r.OptionalOldSelf != nil:
		return text + ", OptionalOldSelf:(*bool)(0xc000000000)}"
	}
	return text + ", OptionalOldSelf:(*bool)(nil)}"
}

// Upstream's function would take time that grows with the square of the length of the errors' text.
func (a *admission) invalid(causes []engine.Cause) *metav1.Status {
	gk := runtimeschema.GroupKind{Group: "apiextensions.k8s.io", Kind: crdKind}
	status := &apierrors.NewInvalid(gk, a.crd.Name, nil).ErrStatus
	seen := map[string]bool{}
	var texts []string
	for _, c := range causes {
		status.Details.Causes = append(status.Details.Causes, metav1.StatusCause{Type: c.Reason, Field: c.Field, Message: c.Message})
		if text := c.Field + ": " + c.Message; !seen[text] {
			texts, seen[text] = append(texts, text), true
		}
	}
	list := strings.Join(texts, ", ")
	if len(texts) > 1 {
		list = "[" + list + "]"
	}
	status.Message = fmt.Sprintf("%s %q is invalid: %s", gk.String(), a.crd.Name, list)
	return status
}
