package vet

import "strings"

// shared lists the fields of the server's internal spec that hold values which all versions share, or the values of
// the first version, with their names in a version.
var shared = []struct{ atTop, inVersion string }{
	{"validation", "schema"},
	{"subresources", "subresources"},
	{"additionalPrinterColumns", "additionalPrinterColumns"},
	{"selectableFields", "selectableFields"},
	{"version", "name"},
}

// Place returns the path in the CRD of the field of a cause. The server uses internal paths, such
// as spec.validation.openAPIV3Schema, for fields that all versions share; the result is the path in
// the first version.
func Place(field string) string {
	for _, s := range shared {
		if isBelow(field, "spec."+s.atTop) {
			field = "spec.versions[0]." + s.inVersion + strings.TrimPrefix(field, "spec."+s.atTop)
			break
		}
	}
	return internalNames.Replace(field)
}

var internalNames = strings.NewReplacer("].JSONPath", "].jsonPath", ".default.[", ".default[")
