package compare

import apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

// The work of compiling one schema node, and one byte of a rule.
const (
	perNode = 100
	perByte = 20
)

// sizeOf returns the work of compiling the largest version of a CRD.
func sizeOf(crd *apiextensionsv1.CustomResourceDefinition) (size int) {
	for i := range crd.Spec.Versions {
		if s := crd.Spec.Versions[i].Schema; s != nil {
			size = max(size, sizeOfSchema(s.OpenAPIV3Schema))
		}
	}
	return size
}

// depthOf returns the depth of the deepest schema of a CRD.
func depthOf(crd *apiextensionsv1.CustomResourceDefinition) (depth int) {
	for i := range crd.Spec.Versions {
		if s := crd.Spec.Versions[i].Schema; s != nil {
			depth = max(depth, depthOfSchema(s.OpenAPIV3Schema))
		}
	}
	return depth
}

func depthOfSchema(s *props) int {
	if s == nil {
		return 0
	}
	below := depthOfSchema(valuesOf(s))
	for _, prop := range s.Properties {
		below = max(below, depthOfSchema(&prop))
	}
	if s.Items != nil {
		below = max(below, depthOfSchema(s.Items.Schema))
	}
	return below + 1
}

func sizeOfSchema(s *props) int {
	if s == nil {
		return 0
	}
	size := perNode + len(s.Enum)*perNode/10
	for i := range s.XValidations {
		size += perByte * len(s.XValidations[i].Rule)
	}
	for _, prop := range s.Properties {
		size += sizeOfSchema(&prop)
	}
	if s.Items != nil {
		size += sizeOfSchema(s.Items.Schema)
	}
	return size + sizeOfSchema(valuesOf(s))
}
