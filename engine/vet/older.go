package vet

import (
	"math"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/internal/minors"
	"github.com/celadon-cel/celadon/types"
)

// How it works: the linked function validates a CRD for the newest version. For an older version,
// it gets a CRD in which the parts that the versions validate differently are replaced, so that its
// errors and everything that depends on them are the same as in the older version.

// Versions whose validation of CRDs has a property. The code is in apiextensions-apiserver,
// pkg/apis/apiextensions/validation/validation.go, unless another file is named.
var (
	// exemptUnchanged servers do not limit the cost of a rule in an unchanged schema.
	exemptUnchanged = minors.Since(29)
	// storedMessages servers compile an unchanged messageExpression as a stored one. Older servers
	// look it up among the rules that have a messageExpression.
	storedMessages = minors.Since(31)
	// closedJunctors servers accept additionalProperties: false below allOf, anyOf, oneOf, and not
	// (pkg/apiserver/schema/convert.go).
	closedJunctors = minors.Since(31)
	// checkedBundles servers validate the caBundle of a conversion webhook.
	checkedBundles = minors.Since(31)
	// selectableFields servers keep the selectableFields of a CRD
	// (pkg/registry/customresourcedefinition/strategy.go).
	selectableFields = minors.Since(31)
	// exemptSelectable servers accept more than eight selectableFields if they are unchanged.
	exemptSelectable = minors.Since(35)
	// kubernetesNames servers validate defaults of the formats k8s-short-name and k8s-long-name
	// (kube-openapi, pkg/validation/strfmt).
	kubernetesNames = minors.Since(34)
	// rangedDefaults servers require that a default and its bounds are in the range of their type
	// (kube-openapi, pkg/validation/validate/schema.go).
	rangedDefaults = minors.Since(36)
)

func (u *unit) adapt(v types.Version) {
	if !closedJunctors.Include(v.Minor) && validation.SchemaHas(u.root, closed) {
		u.rewrite(closeJunctor)
	}
}

func closed(s *apiextensions.JSONSchemaProps) bool {
	more := s.AdditionalProperties
	return more != nil && !more.Allows && more.Schema == nil
}

func (a *admission) ownErrors() (field.ErrorList, error) {
	errs, err := a.withoutRules()
	if err == nil && a.adaptDefaults(errs) {
		errs, err = a.withoutRules()
	}
	if rangedDefaults.Include(a.version.Minor) {
		return errs, err
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool { return strings.Contains(err.Detail, rangeDetail) }), err
}

// Only newer servers compare the replaced parts with defaults. adaptDefaults reports whether errs has such an error.
func (a *admission) adaptDefaults(errs field.ErrorList) bool {
	ranged, named := rangedDefaults.Include(a.version.Minor), kubernetesNames.Include(a.version.Minor)
	if ranged || !slices.ContainsFunc(errs, func(err *field.Error) bool {
		return strings.Contains(err.Detail, rangeDetail) || !named && strings.Contains(err.Detail, nameDetail)
	}) {
		return false
	}
	for _, u := range a.units {
		u.rewrite(truncateBounds)
		if !named {
			u.rewrite(dropNames)
		}
	}
	return true
}

const (
	rangeDetail = " value must be of type "
	nameDetail  = "in body must be of type k8s"
)

func (a *admission) oldGiven() *apiextensions.CustomResourceDefinition {
	if exemptSelectable.Include(a.version.Minor) {
		return a.old
	}
	old := *a.old
	old.Spec.Versions = slices.Clone(old.Spec.Versions)
	dropSelectable(&old.Spec) // only the exemption depends on them
	for _, u := range units(&old.Spec) {
		if u.adapt(a.version); u.full != u.root {
			u.setSchema(&old.Spec, u.full)
		}
	}
	return &old
}

func withoutBundle(crd *apiextensions.CustomResourceDefinition) {
	if c := crd.Spec.Conversion; c != nil && c.WebhookClientConfig != nil {
		conversion, client := *c, *c.WebhookClientConfig
		client.CABundle = nil
		conversion.WebhookClientConfig = &client
		crd.Spec.Conversion = &conversion
	}
}

func dropSelectable(spec *apiextensions.CustomResourceDefinitionSpec) {
	spec.SelectableFields = nil
	for i := range spec.Versions {
		spec.Versions[i].SelectableFields = nil
	}
}

// A rewrite changes a node of a schema, apart from the nodes below it. nested is set below allOf, anyOf, oneOf, and
// not. It returns false to keep the nodes below it.
type rewrite func(s *apiextensions.JSONSchemaProps, nested bool) bool

// rewrite does not modify u.root.
func (u *unit) rewrite(change rewrite) {
	u.stripped, u.full = u.stripped.DeepCopy(), u.full.DeepCopy()
	change.all(u.stripped, false)
	change.all(u.full, false)
}

func (change rewrite) all(s *apiextensions.JSONSchemaProps, nested bool) {
	if s == nil || !change(s, nested) {
		return
	}
	if s.Items != nil {
		change.all(s.Items.Schema, nested)
	}
	if s.AdditionalProperties != nil {
		change.all(s.AdditionalProperties.Schema, nested)
	}
	for name, p := range s.Properties {
		change.all(&p, nested)
		s.Properties[name] = p
	}
	for _, list := range [][]apiextensions.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			change.all(&list[i], true)
		}
	}
	change.all(s.Not, true)
}

// closeJunctor replaces additionalProperties: false by a schema, which the function rejects with the error that older
// servers also return for false.
func closeJunctor(s *apiextensions.JSONSchemaProps, nested bool) bool {
	if nested && closed(s) {
		s.AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{Schema: &apiextensions.JSONSchemaProps{}}
	}
	return true
}

// truncateBounds replaces the bounds of integers by the bounds that older servers compare with an integer. An int32
// with a larger bound becomes an int64, so that the function does compare it. All servers compare a default that has
// a float with the original bounds.
func truncateBounds(s *apiextensions.JSONSchemaProps, _ bool) bool {
	if s.Default != nil && hasFloat(*s.Default) {
		return false
	}
	if s.Type != "integer" {
		return true
	}
	s.Minimum, s.Maximum, s.MultipleOf = truncated(s.Minimum), truncated(s.Maximum), truncated(s.MultipleOf)
	for _, bound := range []*float64{s.Minimum, s.Maximum, s.MultipleOf} {
		if bound != nil && (*bound < math.MinInt32 || *bound > math.MaxInt32) && s.Format == "int32" {
			s.Format = "int64"
		}
	}
	return true
}

func dropNames(s *apiextensions.JSONSchemaProps, _ bool) bool {
	switch strings.ReplaceAll(s.Format, "-", "") {
	case "k8sshortname", "k8slongname":
		s.Format = ""
	}
	return true
}

func hasFloat(value any) bool {
	switch v := value.(type) {
	case float64:
		return true
	case []any:
		return slices.ContainsFunc(v, hasFloat)
	case map[string]any:
		for _, one := range v {
			if hasFloat(one) {
				return true
			}
		}
	}
	return false
}

// truncated returns a bound as an int64 on amd64, where all numbers out of range become the least int64.
func truncated(bound *float64) *float64 {
	if bound == nil {
		return nil
	}
	whole := math.Trunc(*bound)
	if !(whole >= math.MinInt64 && whole < 1<<63) {
		whole = math.MinInt64
	}
	return &whole
}
