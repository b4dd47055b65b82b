package resource

import (
	_ "embed"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"
)

// A CompositeResourceDefinition of Crossplane defines a kind of composite resources and, with the scope
// LegacyCluster, possibly a kind of claims. Crossplane generates a CRD for each: see internal/xcrd in
// github.com/crossplane/crossplane.
const (
	xrdKind  = "CompositeResourceDefinition"
	xrdGroup = "apiextensions.crossplane.io"
)

// Scopes of composite resources. With legacyCluster, the fields of Crossplane are directly below spec and status.
const (
	namespaced    = "Namespaced"
	clusterScoped = "Cluster"
	legacyCluster = "LegacyCluster"
)

// maxCompositeName is the maximum length of the name of a composite resource or claim in Crossplane, which also uses
// the name as the value of a label.
const maxCompositeName = int64(63)

func compositeDefinitions(object map[string]any) []map[string]any {
	from := objectAt(object, "spec")
	name, _ := objectAt(object, "metadata")["name"].(string)
	group, _ := from["group"].(string)
	if name == "" || group == "" || objectAt(from, "names") == nil {
		return nil
	}
	scope, _ := from["scope"].(string)
	if scope == "" {
		if scope = namespaced; object["apiVersion"] == xrdGroup+"/v1" {
			scope = legacyCluster
		}
	}
	composite := compositeCRD(name, from, from["names"], "composite", scope)
	if composite == nil {
		return nil
	}
	crds := []map[string]any{composite}
	claims := objectAt(from, "claimNames")
	if plural, _ := claims["plural"].(string); plural != "" && scope == legacyCluster && claims["kind"] != objectAt(from, "names")["kind"] {
		crds = append(crds, compositeCRD(plural+"."+group, from, from["claimNames"], "claim", ""))
	}
	return crds
}

// For claims, scope is "". The result is nil if the versions are invalid.
func compositeCRD(name string, from map[string]any, names any, category, scope string) map[string]any {
	spec := picked(from, "group", "conversion")
	named := maps.Clone(objectAt(map[string]any{"names": names}, "names"))
	categories, _ := named["categories"].([]any)
	named["categories"] = append(slices.Clone(categories), category)
	spec["names"], spec["scope"] = named, namespaced
	if scope != namespaced && scope != "" {
		spec["scope"] = clusterScoped
	}
	versions := eachVersion(from, func(version map[string]any) map[string]any {
		out := picked(version, "name", "served", "deprecated", "deprecationWarning", "additionalPrinterColumns")
		out["storage"] = version["referenceable"]
		out["subresources"] = map[string]any{"status": map[string]any{}}
		schema := objectAt(version, "schema", "openAPIV3Schema")
		if schema == nil {
			return out
		}
		specFields, statusFields := addedFields(scope, from)
		out["schema"] = map[string]any{"openAPIV3Schema": compositeSchema(schema, specFields, statusFields)}
		return out
	})
	if versions == nil {
		return nil
	}
	spec["versions"] = versions
	return newDefinition(name, spec)
}

// compositeSchema returns the schema of a version. Crossplane uses only these parts of the author's schema; rules at
// the root have no effect.
func compositeSchema(schema map[string]any, specFields, statusFields map[string]any) map[string]any {
	length := any(maxCompositeName)
	if n, ok := objectAt(schema, "properties", "metadata", "properties", "name")["maxLength"].(int64); ok && n < maxCompositeName {
		length = n
	}
	out := picked(schema, "description")
	out["type"], out["required"] = "object", []any{"spec"}
	out["properties"] = map[string]any{
		"apiVersion": map[string]any{"type": "string"},
		"kind":       map[string]any{"type": "string"},
		"metadata":   map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string", "maxLength": length}}},
		"spec":       withFields(objectAt(schema, "properties", "spec"), specFields, "required", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations", "oneOf", "description"),
		"status":     withFields(objectAt(schema, "properties", "status"), statusFields, "required", "x-kubernetes-validations", "oneOf", "description"),
	}
	return out
}

func withFields(schema, fields map[string]any, keys ...string) map[string]any {
	out := picked(schema, keys...)
	properties := maps.Clone(objectAt(schema, "properties"))
	if properties == nil {
		properties = map[string]any{}
	}
	maps.Copy(properties, fields)
	out["type"], out["properties"] = "object", properties
	return out
}

//go:embed crossplane.yaml
var crossplaneYAML []byte

func addedFields(scope string, from map[string]any) (spec, status map[string]any) {
	var all map[string]any
	if err := yaml.Unmarshal(crossplaneYAML, &all); err != nil {
		panic(err) // the file is part of the program
	}
	withDefault := func(of, field, key, value string) map[string]any {
		if v, ok := from[key].(string); ok {
			value = v
		}
		objectAt(all, of, field)["default"] = value
		return objectAt(all, of)
	}
	const policy, defaultPolicy = "compositionUpdatePolicy", "defaultCompositionUpdatePolicy"
	switch scope {
	case "":
		return withDefault("claim", "compositeDeletePolicy", "defaultCompositeDeletePolicy", "Background"), objectAt(all, "legacyStatus")
	case legacyCluster:
		return withDefault("legacy", policy, defaultPolicy, "Automatic"), objectAt(all, "legacyStatus")
	case namespaced:
		delete(objectAt(all, "composite", "resourceRefs", "items", "properties"), "namespace")
	}
	spec = withDefault("composite", policy, defaultPolicy, "Automatic")
	return map[string]any{"crossplane": map[string]any{"type": "object", "properties": spec}}, objectAt(all, "status")
}
