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

// CompileWork returns the work of compiling the largest version of a CRD, in units of x/analysis/work.
func CompileWork(crd *apiextensionsv1.CustomResourceDefinition) int { return largest(crd, schemaWork) }

// Nodes returns the number of schema nodes of the largest version of a CRD.
func Nodes(crd *apiextensionsv1.CustomResourceDefinition) int { return largest(crd, schemaNodes) }

// Depth returns the depth of the deepest schema of a CRD.
func Depth(crd *apiextensionsv1.CustomResourceDefinition) int { return largest(crd, schemaDepth) }

func largest(crd *apiextensionsv1.CustomResourceDefinition, size func(*apiextensionsv1.JSONSchemaProps) int) (most int) {
	for i := range crd.Spec.Versions {
		if s := crd.Spec.Versions[i].Schema; s != nil && s.OpenAPIV3Schema != nil {
			most = max(most, size(s.OpenAPIV3Schema))
		}
	}
	return most
}

func schemaWork(s *apiextensionsv1.JSONSchemaProps) int {
	units := perNode + perValue*len(s.Enum) + textWork(s.Pattern)
	for i := range s.XValidations {
		units += textWork(s.XValidations[i].Rule) + textWork(s.XValidations[i].MessageExpression)
	}
	for _, below := range Children(s) {
		units += schemaWork(below)
	}
	return units
}

func schemaNodes(s *apiextensionsv1.JSONSchemaProps) int {
	nodes := 1
	for _, below := range Children(s) {
		nodes += schemaNodes(below)
	}
	return nodes
}

func schemaDepth(s *apiextensionsv1.JSONSchemaProps) (depth int) {
	for _, below := range Children(s) {
		depth = max(depth, schemaDepth(below))
	}
	return depth + 1
}

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
