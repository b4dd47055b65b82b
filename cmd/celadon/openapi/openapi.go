// Package openapi builds the OpenAPI documents that a Kubernetes API server publishes for CRDs,
// with the server's own builder.
package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// V3 returns the documents of all served versions, by the server's path below /openapi/v3, for
// example apis/stable.example.com/v1. It applies the CRD defaults first, as a server does when it
// stores a CRD, and does not modify crds. It returns an error if two CRDs have the same name.
func V3(crds []*apiextensionsv1.CustomResourceDefinition) (map[string]json.RawMessage, error) {
	parts := map[string][]*spec3.OpenAPI{}
	err := eachServed(crds, func(crd *apiextensionsv1.CustomResourceDefinition, version string) error {
		part, err := builder.BuildOpenAPIV3(crd, version, builder.Options{IncludeSelectableFields: true})
		path := "apis/" + crd.Spec.Group + "/" + version
		parts[path] = append(parts[path], part)
		return err
	})
	if err != nil {
		return nil, err
	}
	documents := map[string]json.RawMessage{}
	for path, all := range parts {
		whole, err := builder.MergeSpecsV3(all...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if documents[path], err = sorted(whole); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return documents, nil
}

// V2 returns the paths, definitions, and parameters that crds add to the server's /openapi/v2
// document, or nil if no version is served. The definition of DeleteOptions also lists the groups
// of the server's built-in types. V2 does not modify crds, and returns an error if two of them have
// the same name.
func V2(crds []*apiextensionsv1.CustomResourceDefinition) (json.RawMessage, error) {
	var parts []*spec.Swagger
	err := eachServed(crds, func(crd *apiextensionsv1.CustomResourceDefinition, version string) error {
		part, err := builder.BuildOpenAPIV2(crd, version, builder.Options{V2: true, IncludeSelectableFields: true})
		if err != nil {
			return err
		}
		part.Definitions = handler.PruneDefaults(part.Definitions)
		parts = append(parts, part)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, errors.New("no version is served, so nothing is published")
	}
	whole, err := builder.MergeSpecs(parts[0], parts[1:]...)
	if err != nil {
		return nil, err
	}
	return sorted(whole)
}

func eachServed(crds []*apiextensionsv1.CustomResourceDefinition, do func(*apiextensionsv1.CustomResourceDefinition, string) error) error {
	seen := map[string]bool{}
	for _, crd := range crds {
		if seen[crd.Name] {
			return fmt.Errorf("%s: duplicate: a server can have only one", crd.Name)
		}
		seen[crd.Name] = true
		crd = crd.DeepCopy()
		apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
		for _, v := range crd.Spec.Versions {
			if !v.Served {
				continue
			}
			if err := do(crd, v.Name); err != nil {
				return fmt.Errorf("%s %s: %w", crd.Name, v.Name, err)
			}
		}
	}
	return nil
}

// sorted encodes a document with sorted keys, so that equal CRDs produce equal bytes.
func sorted(document any) (json.RawMessage, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
