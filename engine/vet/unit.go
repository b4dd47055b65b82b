package vet

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/cost"
)

// A unit is a schema of a CRD, which belongs to one version or is shared by all versions.
type unit struct {
	// name is the version that determines whether the schema is unchanged. versions are all
	// versions that use the schema.
	name     string
	versions []string
	// path is the path of openAPIV3Schema's parent in the CRD.
	path *field.Path
	root *apiextensions.JSONSchemaProps
	// full is root as the API server's own function gets it (see adapt), and stripped is full without rules. tree is
	// nil if there are no rules.
	full, stripped *apiextensions.JSONSchemaProps
	tree           *branch
	// whole is set if the API server's own function also gets the rules, because the rules of such
	// a schema are never compiled. stripped is then the same as full.
	whole     bool
	trials    int
	setSchema func(*apiextensions.CustomResourceDefinitionSpec, *apiextensions.JSONSchemaProps)

	// The rules of children come before the rules of their parents.
	rules []*rule
	total *cost.Total
}

func units(spec *apiextensions.CustomResourceDefinitionSpec) []*unit {
	var list []*unit
	top := field.NewPath("spec")
	for i := range spec.Versions {
		v := &spec.Versions[i]
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		list = append(list, &unit{
			name:     v.Name,
			versions: []string{v.Name},
			path:     top.Child("versions").Index(i).Child("schema"),
			root:     v.Schema.OpenAPIV3Schema,
			setSchema: func(spec *apiextensions.CustomResourceDefinitionSpec, s *apiextensions.JSONSchemaProps) {
				spec.Versions[i].Schema = &apiextensions.CustomResourceValidation{OpenAPIV3Schema: s}
			},
		})
	}
	if spec.Validation != nil && spec.Validation.OpenAPIV3Schema != nil {
		u := &unit{
			name: spec.Version,
			path: top.Child("validation"),
			root: spec.Validation.OpenAPIV3Schema,
			setSchema: func(spec *apiextensions.CustomResourceDefinitionSpec, s *apiextensions.JSONSchemaProps) {
				spec.Validation = &apiextensions.CustomResourceValidation{OpenAPIV3Schema: s}
			},
		}
		for _, v := range spec.Versions {
			u.versions = append(u.versions, v.Name)
		}
		list = append(list, u)
	}
	for _, u := range list {
		u.full = u.root
		if u.tree, u.whole = treeOf(u.root); u.tree != nil && !u.whole {
			u.stripped = u.tree.stripped()
		} else {
			u.stripped = u.root
		}
	}
	return list
}

// version returns "" if versions share the schema.
func (u *unit) version() string {
	if len(u.versions) == 1 {
		return u.versions[0]
	}
	return ""
}

func (u *unit) schemaPath() *field.Path { return u.path.Child("openAPIV3Schema") }

// ofSchema omits errors about the resource, such as its type.
func (u *unit) ofSchema(errs field.ErrorList) (kept errorPaths) {
	path := u.schemaPath().String()
	for _, err := range errs {
		ofResource := err.Field == path || err.Field == path+".nullable" ||
			err.Field == path+".type" && err.Detail == rootTypeDetail
		if isBelow(err.Field, path) && !ofResource {
			kept = append(kept, schemaError{err, owner(err)})
		}
	}
	return kept
}

type schemaError struct {
	*field.Error
	owner string
}

// For some errors about items and values, the owner is an ancestor of the field.
func owner(err *field.Error) string {
	last := func(word string) string {
		if i := strings.LastIndex(err.Field, word); i >= 0 {
			return err.Field[:i]
		}
		return err.Field
	}
	switch d := err.Detail; {
	case d == "must be atomic as item of a list with x-kubernetes-list-type=set",
		d == "must be object if parent array's x-kubernetes-list-type is map",
		strings.HasPrefix(d, "cannot be nullable when x-kubernetes-list-type is "):
		return last(".items.")
	case d == "must be a scalar type if parent array's x-kubernetes-list-type is map",
		strings.HasPrefix(d, "this property is in x-kubernetes-list-map-keys, "):
		return last(".items.properties[")
	case d == "additionalProperties and properties are mutual exclusive":
		return last(".additionalProperties")
	}
	return err.Field
}

const rootTypeDetail = `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`

// structure reports how far the API server processes a schema with errors: convertible is set if it can be converted
// to a structural schema, sound if its rules are compiled. rejected are the errors of its defaults.
func (u *unit) structure(ctx context.Context, errs errorPaths) (convertible, sound bool, rejected errorPaths) {
	if len(errs) == 0 {
		return true, true, nil
	}
	s, err := schema.NewStructural(u.stripped)
	if err != nil {
		return false, false, nil
	}
	if len(schema.ValidateStructural(u.schemaPath(), s)) > 0 {
		return true, false, nil
	}
	found, err := defaulting.ValidateDefaults(ctx, u.schemaPath(), s, true, true)
	if err != nil {
		found = append(found, field.Invalid(u.schemaPath(), "", err.Error()))
	}
	return true, true, errs.shared(found)
}

func (e errorPaths) shared(others field.ErrorList) errorPaths {
	reported := map[[2]string]bool{}
	for _, err := range others {
		reported[[2]string{err.Field, err.Detail}] = true
	}
	return slices.DeleteFunc(slices.Clone(e), func(err schemaError) bool { return !reported[[2]string{err.Field, err.Detail}] })
}
