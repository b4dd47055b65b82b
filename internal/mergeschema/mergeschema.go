// Package mergeschema converts schemas of CRDs to types of structured-merge-diff, with which
// server-side apply and ApplyConfiguration patches merge.
package mergeschema

import (
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// How it works: the server converts a CRD's schema to OpenAPI, and that to the schema of structured
// merge. Of does both at once. A value without a declared type merges by the type that it has: maps by
// key, and lists as a whole.

// Of returns the type of objects with the given schema. s describes the whole object, and is nil for a
// kind without a schema. The type is immutable and safe for concurrent use. It may share memory with s.
func Of(s *structural.Structural) typed.ParseableType {
	root := schema.Atom{Map: &schema.Map{ElementType: namedType(deducedType)}}
	if s != nil {
		root = mergeAtom(s, false, true)
	}
	all := append(metadataTypes(), schema.TypeDef{Name: rootType, Atom: root})
	return typed.ParseableType{Schema: &schema.Schema{Types: all}, TypeRef: namedType(rootType)}
}

const (
	rootType       = "object"
	untypedType    = "__untyped_atomic_"
	deducedType    = "__untyped_deduced_"
	objectMetaType = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
)

func namedType(name string) schema.TypeRef { return schema.TypeRef{NamedType: &name} }

func newScalar(s schema.Scalar) *schema.Scalar { return &s }

// mergeAtom converts a schema. preserve is set if a parent preserves unknown fields. resource is set if s
// describes an object with metadata.
func mergeAtom(s *structural.Structural, preserve, resource bool) schema.Atom {
	preserve = preserve || s.XPreserveUnknownFields
	switch s.Type {
	case "":
		return schema.Atom{Scalar: newScalar(schema.Untyped), List: mergeList(s, preserve), Map: mergeMap(s, preserve, resource)}
	case "object":
		return schema.Atom{Map: mergeMap(s, preserve, resource)}
	case "array":
		return schema.Atom{List: mergeList(s, preserve)}
	case "integer", "number":
		return schema.Atom{Scalar: newScalar(schema.Numeric)}
	case "boolean":
		return schema.Atom{Scalar: newScalar(schema.Boolean)}
	case "string":
		if format := formatOf(s); format == "" || format == "byte" {
			return schema.Atom{Scalar: newScalar(schema.String)}
		}
	}
	return schema.Atom{Scalar: newScalar(schema.Untyped)}
}

func formatOf(s *structural.Structural) string {
	if s.ValueValidation == nil {
		return ""
	}
	return s.ValueValidation.Format
}

func mergeType(s *structural.Structural, preserve bool) schema.TypeRef {
	return schema.TypeRef{Inlined: mergeAtom(s, preserve, s.XEmbeddedResource)}
}

func mergeList(s *structural.Structural, preserve bool) *schema.List {
	list := &schema.List{ElementRelationship: schema.Atomic, ElementType: namedType(untypedType)}
	if s.XListType != nil && *s.XListType != "atomic" {
		list.ElementRelationship = schema.Associative
		if *s.XListType == "map" {
			list.Keys = s.XListMapKeys
		}
	}
	if s.Items != nil {
		list.ElementType = mergeType(s.Items, preserve)
	}
	return list
}

func mergeMap(s *structural.Structural, preserve, resource bool) *schema.Map {
	m := &schema.Map{}
	for name, property := range s.Properties {
		if resource && (name == "metadata" || name == "apiVersion" || name == "kind") {
			continue
		}
		m.Fields = append(m.Fields, schema.StructField{Name: name, Type: mergeType(&property, preserve), Default: property.Default.Object})
	}
	if resource {
		m.Fields = append(m.Fields, stringField("apiVersion"), stringField("kind"), schema.StructField{Name: "metadata", Type: namedType(objectMetaType)})
	}
	switch more := s.AdditionalProperties; {
	case more != nil && more.Structural != nil:
		m.ElementType = mergeType(more.Structural, preserve)
	case more != nil && more.Bool, more == nil && (preserve || len(m.Fields) == 0):
		m.ElementType = namedType(deducedType)
	}
	if s.XMapType != nil {
		m.ElementRelationship = schema.Separable
		if *s.XMapType == "atomic" {
			m.ElementRelationship = schema.Atomic
		}
	}
	return m
}

func newField(name string, atom schema.Atom) schema.StructField {
	return schema.StructField{Name: name, Type: schema.TypeRef{Inlined: atom}}
}

func stringField(name string) schema.StructField {
	return newField(name, schema.Atom{Scalar: newScalar(schema.String)})
}

func requiredField(name string) schema.StructField {
	f := stringField(name)
	f.Default = ""
	return f
}

func metadataTypes() []schema.TypeDef {
	stringType := schema.TypeRef{Inlined: schema.Atom{Scalar: newScalar(schema.String)}}
	texts := schema.Atom{Map: &schema.Map{ElementType: stringType}}
	number, boolean := schema.Atom{Scalar: newScalar(schema.Numeric)}, schema.Atom{Scalar: newScalar(schema.Boolean)}
	time := schema.Atom{Scalar: newScalar(schema.Untyped)}
	owner := schema.Atom{Map: &schema.Map{ElementRelationship: schema.Atomic, Fields: []schema.StructField{
		requiredField("apiVersion"), newField("blockOwnerDeletion", boolean), newField("controller", boolean), requiredField("kind"), requiredField("name"), requiredField("uid"),
	}}}
	managed := schema.Atom{Map: &schema.Map{Fields: []schema.StructField{
		stringField("apiVersion"), stringField("fieldsType"), newField("fieldsV1", schema.Atom{Map: &schema.Map{ElementType: namedType(deducedType)}}),
		stringField("manager"), stringField("operation"), stringField("subresource"), newField("time", time),
	}}}
	meta := []schema.StructField{
		newField("annotations", texts), newField("creationTimestamp", time), newField("deletionGracePeriodSeconds", number), newField("deletionTimestamp", time),
		newField("finalizers", schema.Atom{List: &schema.List{ElementType: stringType, ElementRelationship: schema.Associative}}),
		stringField("generateName"), newField("generation", number), newField("labels", texts),
		newField("managedFields", schema.Atom{List: &schema.List{ElementType: schema.TypeRef{Inlined: managed}, ElementRelationship: schema.Atomic}}),
		stringField("name"), stringField("namespace"),
		newField("ownerReferences", schema.Atom{List: &schema.List{ElementType: schema.TypeRef{Inlined: owner}, ElementRelationship: schema.Associative, Keys: []string{"uid"}}}),
		stringField("resourceVersion"), stringField("selfLink"), stringField("uid"),
	}
	untyped := &schema.List{ElementType: namedType(untypedType), ElementRelationship: schema.Atomic}
	return []schema.TypeDef{
		{Name: objectMetaType, Atom: schema.Atom{Map: &schema.Map{Fields: meta}}},
		{Name: untypedType, Atom: schema.Atom{Scalar: newScalar(schema.Untyped), List: untyped, Map: &schema.Map{ElementType: namedType(untypedType), ElementRelationship: schema.Atomic}}},
		{Name: deducedType, Atom: schema.Atom{Scalar: newScalar(schema.Untyped), List: untyped, Map: &schema.Map{ElementType: namedType(deducedType), ElementRelationship: schema.Separable}}},
	}
}
