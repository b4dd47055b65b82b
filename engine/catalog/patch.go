package catalog

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// IsPatch reports whether crd can only be a part of a CRD, such as the kustomize patches that
// kubebuilder writes next to CRDs: it has no group, names, or versions. IsPatchObject reports the
// same for a CRD that is not decoded.
func IsPatch(crd *apiextensionsv1.CustomResourceDefinition) bool {
	spec := &crd.Spec
	return spec.Group == "" && spec.Names.Kind == "" && spec.Names.Plural == "" && len(spec.Versions) == 0
}

// IsPatchObject reports whether crd, the JSON value of an object of kind CustomResourceDefinition,
// is a patch. The value may be invalid in other ways. An unknown apiVersion, or a field of an
// unexpected type, makes it a broken CRD instead.
func IsPatchObject(crd map[string]any) bool {
	if v := crd["apiVersion"]; v != nil && v != apiVersion && v != APIVersionBeta {
		return false
	}
	spec, ok := crd["spec"].(map[string]any)
	if !ok {
		return crd["spec"] == nil
	}
	names, ok := spec["names"].(map[string]any)
	if !ok && spec["names"] != nil {
		return false
	}
	if crd["apiVersion"] == APIVersionBeta && !unset(spec["version"]) {
		return false
	}
	return unset(spec["group"]) && unset(names["kind"]) && unset(names["plural"]) && unset(spec["versions"])
}

func unset(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	}
	return false
}

func isPatchText(text []byte) bool {
	var crd map[string]any
	return json.Unmarshal(text, &crd) == nil && IsPatchObject(crd)
}
