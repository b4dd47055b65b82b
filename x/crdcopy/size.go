package crdcopy

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The work of compiling a schema node, an enum value, a byte of a rule or pattern, and a repetition
// in it (a{1000} counts as a thousand).
const (
	perNode   = 100
	perValue  = 10
	perByte   = 20
	perRepeat = 4
)

// CompileWork returns the work of compiling the largest version of a CRD, in units of
// x/analysis/work.
func CompileWork(crd *apiextensionsv1.CustomResourceDefinition) (units int) {
	for i := range crd.Spec.Versions {
		if s := crd.Spec.Versions[i].Schema; s != nil {
			units = max(units, schemaWork(s.OpenAPIV3Schema))
		}
	}
	return units
}

func schemaWork(s *apiextensionsv1.JSONSchemaProps) int {
	if s == nil {
		return 0
	}
	units := perNode + perValue*len(s.Enum) + textWork(s.Pattern)
	for i := range s.XValidations {
		units += textWork(s.XValidations[i].Rule)
	}
	for _, below := range children(s) {
		units += schemaWork(below)
	}
	return units
}

// Nodes returns the number of schema nodes of the largest version of a CRD.
func Nodes(crd *apiextensionsv1.CustomResourceDefinition) (nodes int) {
	for i := range crd.Spec.Versions {
		if s := crd.Spec.Versions[i].Schema; s != nil {
			nodes = max(nodes, schemaNodes(s.OpenAPIV3Schema))
		}
	}
	return nodes
}

func schemaNodes(s *apiextensionsv1.JSONSchemaProps) int {
	if s == nil {
		return 0
	}
	nodes := 1
	for _, below := range children(s) {
		nodes += schemaNodes(below)
	}
	return nodes
}

// textWork returns the work of compiling a rule or a pattern.
func textWork(text string) int {
	units := perByte * len(text)
	for i := range len(text) {
		if text[i] != '{' {
			continue
		}
		times := 0
		for j := i + 1; j < len(text) && text[j] >= '0' && text[j] <= '9' && times < 1000; j++ {
			times = 10*times + int(text[j]-'0')
		}
		units += perRepeat * times
	}
	return units
}

// Depth returns the depth of the deepest schema of a CRD.
func Depth(crd *apiextensionsv1.CustomResourceDefinition) (depth int) {
	for i := range crd.Spec.Versions {
		if s := crd.Spec.Versions[i].Schema; s != nil {
			depth = max(depth, schemaDepth(s.OpenAPIV3Schema))
		}
	}
	return depth
}

func schemaDepth(s *apiextensionsv1.JSONSchemaProps) (depth int) {
	if s == nil {
		return 0
	}
	for _, below := range children(s) {
		depth = max(depth, schemaDepth(below))
	}
	return depth + 1
}

// children returns the schemas of properties, items, and additionalProperties.
func children(s *apiextensionsv1.JSONSchemaProps) (all []*apiextensionsv1.JSONSchemaProps) {
	for _, prop := range s.Properties {
		all = append(all, &prop)
	}
	if s.Items != nil && s.Items.Schema != nil {
		all = append(all, s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		all = append(all, s.AdditionalProperties.Schema)
	}
	return all
}
