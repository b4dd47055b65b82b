package requests

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/analysis/prove"
	"github.com/celadon-cel/celadon/x/crdcopy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// How it works: a validation that becomes a rule (translate.go) can be evaluated for all objects that the CRD accepts
// if the rule can, and package prove may prove that. Rules see typed values and policies see decoded JSON, but both
// must fail for the same objects: formats are removed from the schema, because policies see strings. There is no
// proof if the validation reads a field of type number, because policies see whole numbers as ints, or if a field may
// be null, which is present in policies and absent in rules.

// NeverFails reports whether it is proved that a validation can be evaluated for all objects that the CRD accepts,
// unless it exceeds its budget. Without a proof, nothing follows. An error is internal.
func (f *Finder) NeverFails(v Validation) (proved bool, err error) {
	d, err := f.document(v)
	if err != nil || len(d.conditions) > 0 {
		return false, nil
	}
	return f.never(d, v.Expression, prove.Failed, nil)
}

// DeniedByBoth reports whether it is proved that the policies of another Finder deny all requests that a validation
// denies. Without a proof, nothing follows. It returns an error if f does not have the validation, or on an internal
// error.
func (f *Finder) DeniedByBoth(v Validation, other *Finder) (proved bool, err error) {
	d, err := f.document(v)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(other.policies, func(d *document) bool { return d.name == v.Policy })
	if i < 0 || !reflect.DeepEqual(dependencies(f.cfg.Documents, d), dependencies(other.cfg.Documents, d)) {
		return false, nil
	}
	same := other.policies[i]
	for _, condition := range same.conditions {
		if !slices.Contains(d.conditions, condition) {
			return false, nil
		}
	}
	// With failurePolicy Ignore, a validation that fails admits the request, and so does the policy if it exceeds its
	// budget.
	ignores := text(d.fields, "failurePolicy") == string(admissionregistrationv1.Ignore)
	isNew := func(validation string) bool { return !slices.Contains(d.validations, validation) }
	switch {
	case ignores && slices.ContainsFunc(same.validations, isNew):
		return false, nil
	case slices.Contains(same.validations, v.Expression):
		return true, nil
	case ignores:
		return false, nil
	}
	return f.never(d, v.Expression, prove.Rejected, same)
}

// dependencies returns the parts of documents on which the effect of a policy depends, without its conditions and
// validations.
func dependencies(documents []map[string]any, d *document) (all []any) {
	for _, doc := range documents {
		spec := object(doc, "spec")
		switch doc["kind"] {
		case "ValidatingAdmissionPolicy":
			if text(object(doc, "metadata"), "name") == d.name {
				all = append(all, with(with(spec, "validations", nil), "matchConditions", nil))
			}
		case "ValidatingAdmissionPolicyBinding":
			if text(spec, "policyName") == d.name {
				all = append(all, spec)
			}
		default:
			all = append(all, doc)
		}
	}
	return all
}

// never reports whether it is proved that an expression never has an outcome for objects that the validations of
// another policy accept. other may be nil.
func (f *Finder) never(d *document, expression string, outcome prove.Outcome, other *document) (proved bool, err error) {
	if f.builtin != nil || f.cfg.Subresource != nil || len(f.crd.Spec.Versions) != 1 {
		return false, nil
	}
	for _, one := range f.forms(d) {
		if one.subresource == policyrequest.ScaleName { // object is not the custom resource
			return false, nil
		}
		proved, err := f.neverFor(d, expression, outcome, other, one.operation)
		if !proved || err != nil {
			return false, err
		}
	}
	return true, nil
}

// nullTests replaces comparisons of a root that is null, which package prove does not support.
var nullTests = strings.NewReplacer(null+" == null", "true", null+" != null", "false")

func (f *Finder) neverFor(d *document, expression string, outcome prove.Outcome, other *document, operation policy.Operation) (bool, error) {
	t := newTranslator(d, operation, f.request(operation, nil, nil))
	t.values = map[string]any{"request": map[string]any{"operation": string(operation)}}
	rule, ok := t.translate(expression, 0)
	if other != nil { // with the same variables
		for _, validation := range other.validations {
			if accepts, ok := t.translate(validation, 0); ok {
				rule = fmt.Sprintf("(%s) || !(%s)", rule, accepts)
			}
		}
	}
	rule = nullTests.Replace(rule)
	if !ok || strings.Contains(rule, "__") { // an escaped name, which policies do not have
		return false, nil
	}
	of := withRule(f.crd, f.version, rule).Spec.Versions[0].DeepCopy()
	if of.Schema == nil || of.Schema.OpenAPIV3Schema == nil {
		return false, nil
	}
	root := of.Schema.OpenAPIV3Schema
	if !dropFormats(root, rule) {
		return false, nil
	}
	p, err := prove.New(of, prove.Config{KubeVersion: f.engine.Info().KubeVersion})
	if err != nil {
		return false, nil // the version cannot be analyzed
	}
	at := len(root.XValidations) - 1
	proof, err := p.Never(engine.RuleRef{Version: f.version, Index: at, Rule: rule}, outcome)
	if errors.Is(err, prove.ErrNotAnalyzed) {
		return false, nil
	}
	return proof != nil, err
}

// dropFormats removes the formats from s, which it modifies. It reports whether the rule then fails for the same
// values as a policy.
func dropFormats(s *apiextensionsv1.JSONSchemaProps, rule string) bool {
	if s.Nullable {
		return false
	}
	s.Format = ""
	for name, below := range s.Properties {
		if below.Type == "number" && regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(rule) || !dropFormats(&below, rule) {
			return false
		}
		s.Properties[name] = below
	}
	below := elementOf(s)
	return below == nil || below.Type != "number" && dropFormats(below, rule)
}

func elementOf(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	return crdcopy.At(s, engine.Step{Any: true})
}
