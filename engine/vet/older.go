package vet

import (
	"maps"
	"math"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/internal/minors"
	"github.com/celadon-cel/celadon/types"
)

// How it works: the linked function validates a CRD for the newest version. For an older version,
// it gets a CRD in which the parts that the versions validate differently are replaced, so that its
// errors and everything that depends on them are those of the older version.

// Versions whose validation of CRDs has a property. The file is that of apiextensions-apiserver,
// pkg/apis/apiextensions/validation/validation.go, unless another is named.
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
	// selectableFields servers keep the fields (pkg/registry/customresourcedefinition/strategy.go).
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

// adapt replaces the parts of the schema that servers of version v validate differently.
func (u *unit) adapt(v types.Version) {
	if !closedJunctors.Include(v.Minor) {
		u.rewrite(rewriter{node: withoutClosedJunctor})
	}
}

func (u *unit) rewrite(f rewriter) {
	u.stripped, u.full = f.schema(u.stripped, false), f.schema(u.full, false)
}

// ownErrors returns the errors of the server's function for the CRD without rules.
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

// adaptDefaults replaces the parts of schemas that only newer servers compare with defaults. It
// reports whether errs has such an error.
func (a *admission) adaptDefaults(errs field.ErrorList) bool {
	ranged, named := rangedDefaults.Include(a.version.Minor), kubernetesNames.Include(a.version.Minor)
	if ranged || !slices.ContainsFunc(errs, func(err *field.Error) bool {
		return strings.Contains(err.Detail, rangeDetail) || !named && strings.Contains(err.Detail, nameDetail)
	}) {
		return false
	}
	for _, u := range a.units {
		u.rewrite(rewriter{node: withoutRange, skip: func(s *apiextensions.JSONSchemaProps) bool {
			return s.Default != nil && hasFloat(*s.Default)
		}})
		if !named {
			u.rewrite(rewriter{node: withoutNames})
		}
	}
	return true
}

const (
	rangeDetail = " value must be of type "
	nameDetail  = "in body must be of type k8s"
)

// oldGiven returns the old CRD for the server's function.
func (a *admission) oldGiven() *apiextensions.CustomResourceDefinition {
	if exemptSelectable.Include(a.version.Minor) {
		return a.old
	}
	old := *a.old
	old.Spec.Versions = slices.Clone(old.Spec.Versions)
	old.Spec.SelectableFields = nil // only the exemption depends on them
	for i := range old.Spec.Versions {
		old.Spec.Versions[i].SelectableFields = nil
	}
	for _, u := range units(&old.Spec) {
		if u.adapt(a.version); u.full != u.root {
			u.setSchema(&old.Spec, u.full)
		}
	}
	return &old
}

// withoutBundle removes the caBundle from the conversion of crd.
func withoutBundle(crd *apiextensions.CustomResourceDefinition) {
	if c := crd.Spec.Conversion; c != nil && c.WebhookClientConfig != nil {
		conversion, client := *c, *c.WebhookClientConfig
		client.CABundle = nil
		conversion.WebhookClientConfig = &client
		crd.Spec.Conversion = &conversion
	}
}

// dropSelectable removes the selectableFields, which older servers do not have.
func dropSelectable(spec *apiextensions.CustomResourceDefinitionSpec) {
	spec.SelectableFields = nil
	for i := range spec.Versions {
		spec.Versions[i].SelectableFields = nil
	}
}

// A rewriter replaces nodes of a schema.
type rewriter struct {
	// node returns the replacement of a node apart from its children, or the node itself. nested is
	// set below allOf, anyOf, oneOf, and not.
	node func(s *apiextensions.JSONSchemaProps, nested bool) *apiextensions.JSONSchemaProps
	// skip reports whether a node and all below it are unchanged. It can be nil.
	skip func(s *apiextensions.JSONSchemaProps) bool
}

// withoutClosedJunctor replaces additionalProperties: false by a schema, which the function rejects
// with the error that older servers also return for false.
func withoutClosedJunctor(s *apiextensions.JSONSchemaProps, nested bool) *apiextensions.JSONSchemaProps {
	if more := s.AdditionalProperties; !nested || more == nil || more.Allows || more.Schema != nil {
		return s
	}
	c := *s
	c.AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{Schema: &apiextensions.JSONSchemaProps{}}
	return &c
}

// withoutRange replaces the bounds of integers by those that older servers compare with an integer.
// An int32 with a larger bound becomes an int64, so that the function does compare it.
func withoutRange(s *apiextensions.JSONSchemaProps, _ bool) *apiextensions.JSONSchemaProps {
	if s.Type != "integer" {
		return s
	}
	c := *s
	c.Minimum, c.Maximum, c.MultipleOf = truncated(s.Minimum), truncated(s.Maximum), truncated(s.MultipleOf)
	for _, bound := range []*float64{c.Minimum, c.Maximum, c.MultipleOf} {
		if bound != nil && (*bound < math.MinInt32 || *bound > math.MaxInt32) && s.Format == "int32" {
			c.Format = "int64"
		}
	}
	return &c
}

// hasFloat reports whether a value contains a number that is not decoded as an integer. All servers
// compare it with the bounds as they are.
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

func withoutNames(s *apiextensions.JSONSchemaProps, _ bool) *apiextensions.JSONSchemaProps {
	switch strings.ReplaceAll(s.Format, "-", "") {
	case "k8sshortname", "k8slongname":
	default:
		return s
	}
	c := *s
	c.Format = ""
	return &c
}

// truncated returns a bound as an int64 on amd64, where all numbers out of range become the least
// int64.
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

// schema returns s with all nodes replaced. It shares unchanged parts with s.
func (f rewriter) schema(s *apiextensions.JSONSchemaProps, nested bool) *apiextensions.JSONSchemaProps {
	if f.skip != nil && f.skip(s) {
		return s
	}
	out := f.node(s, nested)
	edit := func() *apiextensions.JSONSchemaProps {
		if out == s {
			c := *s
			out = &c
		}
		return out
	}
	if s.Items != nil && s.Items.Schema != nil {
		if sub := f.schema(s.Items.Schema, nested); sub != s.Items.Schema {
			edit().Items = &apiextensions.JSONSchemaPropsOrArray{Schema: sub, JSONSchemas: s.Items.JSONSchemas}
		}
	}
	if more := s.AdditionalProperties; more != nil && more.Schema != nil {
		if sub := f.schema(more.Schema, nested); sub != more.Schema {
			edit().AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{Allows: more.Allows, Schema: sub}
		}
	}
	if props := f.properties(s.Properties, nested); props != nil {
		edit().Properties = props
	}
	if list := f.list(s.AllOf); list != nil {
		edit().AllOf = list
	}
	if list := f.list(s.AnyOf); list != nil {
		edit().AnyOf = list
	}
	if list := f.list(s.OneOf); list != nil {
		edit().OneOf = list
	}
	if s.Not != nil {
		if sub := f.schema(s.Not, true); sub != s.Not {
			edit().Not = sub
		}
	}
	return out
}

// properties returns the properties with all nodes replaced, or nil if they are unchanged.
func (f rewriter) properties(props map[string]apiextensions.JSONSchemaProps, nested bool) (out map[string]apiextensions.JSONSchemaProps) {
	var spare apiextensions.JSONSchemaProps
	for name := range props {
		spare = props[name]
		sub := f.schema(&spare, nested)
		if sub == &spare {
			continue
		}
		if out == nil {
			out = maps.Clone(props)
		}
		out[name] = *sub
	}
	return out
}

// list returns the schemas of a junctor with all nodes replaced, or nil if they are unchanged.
func (f rewriter) list(schemas []apiextensions.JSONSchemaProps) (out []apiextensions.JSONSchemaProps) {
	for i := range schemas {
		sub := f.schema(&schemas[i], true)
		if sub == &schemas[i] {
			continue
		}
		if out == nil {
			out = slices.Clone(schemas)
		}
		out[i] = *sub
	}
	return out
}
