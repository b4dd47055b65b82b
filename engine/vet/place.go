package vet

import "strings"

// shared are the fields that the server moves out of the versions where all of
// them have the same, with their names in a version.
var shared = []struct{ atTop, inVersion string }{
	{"validation", "schema"},
	{"subresources", "subresources"},
	{"additionalPrinterColumns", "additionalPrinterColumns"},
	{"selectableFields", "selectableFields"},
	{"version", "name"},
}

// Place is where a cause's field stands in the CRD that was given. The server
// names what all versions share, such as spec.validation.openAPIV3Schema, at a
// place of its own: the first version has it.
func Place(field string) string {
	for _, s := range shared {
		if isBelow(field, "spec."+s.atTop) {
			return "spec.versions[0]." + s.inVersion + strings.TrimPrefix(field, "spec."+s.atTop)
		}
	}
	return field
}
