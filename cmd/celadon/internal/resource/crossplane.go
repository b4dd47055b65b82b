package resource

import "maps"

// A CompositeResourceDefinition of Crossplane defines a kind of composite resources and, in v1, a kind of claims. Crossplane
// generates a CRD for each: see internal/xcrd in github.com/crossplane/crossplane.
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

// maxCompositeName is the length that Crossplane accepts for the name of a composite resource or claim, which is also a label.
const maxCompositeName = int64(63)

// compositeDefinitions returns the CRDs that Crossplane generates from a CompositeResourceDefinition, or nil if it is not
// complete.
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
	composite := compositeCRD(name, from, from["names"], "composite", scope != namespaced, func() (spec, status map[string]any) {
		return compositeFields(scope, from)
	})
	if composite == nil {
		return nil
	}
	crds := []map[string]any{composite}
	claims := objectAt(from, "claimNames")
	if plural, _ := claims["plural"].(string); plural != "" && scope == legacyCluster && claims["kind"] != objectAt(from, "names")["kind"] {
		claim := compositeCRD(plural+"."+group, from, from["claimNames"], "claim", false, func() (spec, status map[string]any) {
			return claimFields(from), statusFields(legacyCluster)
		})
		crds = append(crds, claim)
	}
	return crds
}

// compositeCRD returns the CRD with the given names. Fields returns new schemas of the fields that Crossplane adds.
func compositeCRD(name string, from map[string]any, names any, category string, cluster bool, fields func() (spec, status map[string]any)) map[string]any {
	spec := picked(from, "group", "conversion")
	named := maps.Clone(objectAt(map[string]any{"names": names}, "names"))
	named["categories"] = appended(named["categories"], category)
	spec["names"], spec["scope"] = named, namespaced
	if cluster {
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
		specFields, statusFields := fields()
		out["schema"] = map[string]any{"openAPIV3Schema": compositeSchema(schema, specFields, statusFields)}
		return out
	})
	if versions == nil {
		return nil
	}
	spec["versions"] = versions
	return newDefinition(name, spec)
}

// compositeSchema returns the schema of a version. Crossplane uses only these parts of the author's schema; rules at the root
// have no effect.
func compositeSchema(schema map[string]any, specFields, statusFields map[string]any) map[string]any {
	length := any(maxCompositeName)
	if n, ok := objectAt(schema, "properties", "metadata", "properties", "name")["maxLength"].(int64); ok && n < maxCompositeName {
		length = n
	}
	out := picked(schema, "description")
	out["type"], out["required"] = "object", []any{"spec"}
	out["properties"] = map[string]any{
		"apiVersion": ofType("string"),
		"kind":       ofType("string"),
		"metadata":   map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string", "maxLength": length}}},
		"spec":       withFields(objectAt(schema, "properties", "spec"), specFields, "required", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations", "oneOf", "description"),
		"status":     withFields(objectAt(schema, "properties", "status"), statusFields, "required", "x-kubernetes-validations", "oneOf", "description"),
	}
	return out
}

// withFields returns an object schema with the properties of schema, its entries with the given keys, and more fields.
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

// compositeFields returns the fields that Crossplane adds to composite resources.
func compositeFields(scope string, from map[string]any) (spec, status map[string]any) {
	spec = compositionFields(withDefault(from, "defaultCompositionUpdatePolicy", "Automatic"))
	resource := map[string]any{"apiVersion": ofType("string"), "kind": ofType("string"), "name": ofType("string")}
	if scope != namespaced {
		resource["namespace"] = ofType("string")
	}
	spec["resourceRefs"] = map[string]any{
		"type": "array", "x-kubernetes-list-type": "atomic",
		"items": map[string]any{"type": "object", "required": []any{"apiVersion", "kind"}, "properties": resource},
	}
	status = statusFields(scope)
	if scope != legacyCluster {
		return map[string]any{"crossplane": map[string]any{"type": "object", "properties": spec}}, status
	}
	spec["claimRef"] = textFields("apiVersion", "kind", "namespace", "name")
	spec["writeConnectionSecretToRef"] = textFields("name", "namespace")
	return spec, status
}

// claimFields returns the fields that Crossplane adds to the spec of claims.
func claimFields(from map[string]any) map[string]any {
	fields := compositionFields(nil)
	fields["compositeDeletePolicy"] = choice(withDefault(from, "defaultCompositeDeletePolicy", "Background"), "Background", "Foreground")
	fields["resourceRef"] = textFields("apiVersion", "kind", "name")
	fields["writeConnectionSecretToRef"] = textFields("name")
	return fields
}

func compositionFields(updatePolicy any) map[string]any {
	selector := func() map[string]any {
		labels := map[string]any{"type": "object", "additionalProperties": ofType("string")}
		return map[string]any{"type": "object", "required": []any{"matchLabels"}, "properties": map[string]any{"matchLabels": labels}}
	}
	return map[string]any{
		"compositionRef":              textFields("name"),
		"compositionSelector":         selector(),
		"compositionRevisionRef":      textFields("name"),
		"compositionRevisionSelector": selector(),
		"compositionUpdatePolicy":     choice(updatePolicy, "Automatic", "Manual"),
	}
}

func statusFields(scope string) map[string]any {
	condition := textFields("lastTransitionTime", "reason", "status", "type")
	properties := objectAt(condition, "properties")
	properties["lastTransitionTime"] = dateTime()
	properties["message"] = ofType("string")
	properties["observedGeneration"] = map[string]any{"type": "integer", "format": "int64"}
	connection := map[string]any{"type": "object", "properties": map[string]any{"lastPublishedTime": dateTime()}}
	fields := map[string]any{
		"conditions": map[string]any{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"type"}, "items": condition},
	}
	if scope != legacyCluster {
		fields["crossplane"] = map[string]any{"type": "object", "properties": map[string]any{"connectionDetails": connection}}
		return fields
	}
	fields["connectionDetails"] = connection
	fields["claimConditionTypes"] = map[string]any{"type": "array", "x-kubernetes-list-type": "set", "items": ofType("string")}
	return fields
}

func ofType(name string) map[string]any { return map[string]any{"type": name} }

func dateTime() map[string]any { return map[string]any{"type": "string", "format": "date-time"} }

// textFields returns the schema of an object with the given strings, which are all required.
func textFields(names ...string) map[string]any {
	properties, required := map[string]any{}, []any{}
	for _, name := range names {
		properties[name] = ofType("string")
		required = append(required, name)
	}
	return map[string]any{"type": "object", "required": required, "properties": properties}
}

// choice returns the schema of a string with the given values. Without a value, it has no default.
func choice(value any, values ...any) map[string]any {
	out := map[string]any{"type": "string", "enum": values}
	if value != nil {
		out["default"] = value
	}
	return out
}

// withDefault returns a field of the definition, or the value that the server sets.
func withDefault(from map[string]any, key string, value string) any {
	if v, ok := from[key].(string); ok {
		return v
	}
	return value
}
