package crdfile

// withoutDescriptions drops the descriptions in a CRD's schemas: nothing reads
// them, and they are most of its text.
func withoutDescriptions(crd map[string]any) {
	spec, _ := crd["spec"].(map[string]any)
	validation, _ := spec["validation"].(map[string]any)
	dropDescription(validation["openAPIV3Schema"])
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		schema, _ := version["schema"].(map[string]any)
		dropDescription(schema["openAPIV3Schema"])
	}
}

// dropDescription goes where schemas stand, and not into defaults or enums,
// where a description is data.
func dropDescription(v any) {
	schema, ok := v.(map[string]any)
	if !ok {
		return
	}
	if _, ok := schema["description"].(string); ok {
		delete(schema, "description")
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		for _, property := range properties {
			dropDescription(property)
		}
	}
	dropDescription(schema["items"])
	dropDescription(schema["additionalProperties"])
}
