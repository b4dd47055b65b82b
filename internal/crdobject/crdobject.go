// Package crdobject converts decoded CustomResourceDefinitions to the API's type.
//
// The API's type decodes the schemas of items and additionalProperties with a decoder of their own, which
// scans them once more at each level. Together with the JSON that is first written for that, this
// takes several times as long as everything else that is done with most CRDs.
package crdobject

import (
	"encoding/json"
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
)

// Options determine the result of Convert.
type Options struct {
	// Compact drops the descriptions in schemas, except in junctors. The result then shares no memory with
	// the object, whose strings may be parts of a large text.
	Compact bool
	// MaxSize limits the size of the CRD's JSON without descriptions, in bytes.
	MaxSize int
}

// Convert returns the CRD that the API server's strict decoder returns for the JSON of obj. ok is false if
// that decoder might report anything, if obj is not a CRD of apiextensions.k8s.io/v1, if it might be larger
// than Options.MaxSize, or if it has a rare keyword. In these cases, the JSON must be decoded.
//
// Unless Options.Compact is set, the CRD shares strings with obj. Convert does not modify obj.
func Convert(obj map[string]any, o Options) (crd *apiextensionsv1.CustomResourceDefinition, ok bool) {
	if obj["apiVersion"] != "apiextensions.k8s.io/v1" || obj["kind"] != "CustomResourceDefinition" {
		return nil, false
	}
	rest, schemas, ok := withoutSchemas(obj)
	if !ok {
		return nil, false
	}
	data, err := json.Marshal(rest)
	if err != nil {
		return nil, false
	}
	crd = &apiextensionsv1.CustomResourceDefinition{}
	if strict, err := kjson.UnmarshalStrict(data, crd); err != nil || len(strict) > 0 {
		return nil, false
	}
	c := converter{left: o.MaxSize - len(data)}
	if o.Compact {
		c.copies = map[string]string{}
	}
	for i, s := range schemas {
		if s == nil {
			continue
		}
		crd.Spec.Versions[i].Schema.OpenAPIV3Schema = c.schema(s)
		if c.failed {
			return nil, false
		}
	}
	return crd, true
}

// withoutSchemas returns a copy of a CRD without the schemas of its versions, and these schemas, nil for a
// version without.
func withoutSchemas(obj map[string]any) (rest map[string]any, schemas []map[string]any, ok bool) {
	spec, _ := obj["spec"].(map[string]any)
	versions, ok := spec["versions"].([]any)
	if !ok {
		return nil, nil, false
	}
	rest, spec = maps.Clone(obj), maps.Clone(spec)
	restVersions := make([]any, len(versions))
	schemas = make([]map[string]any, len(versions))
	for i, v := range versions {
		restVersions[i] = v
		version, _ := v.(map[string]any)
		holder, _ := version["schema"].(map[string]any)
		if schemas[i], _ = holder["openAPIV3Schema"].(map[string]any); schemas[i] == nil {
			continue
		}
		version, holder = maps.Clone(version), maps.Clone(holder)
		delete(holder, "openAPIV3Schema")
		version["schema"], restVersions[i] = holder, version
	}
	spec["versions"], rest["spec"] = restVersions, spec
	return rest, schemas, true
}
