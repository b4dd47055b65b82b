package resource

import (
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/vet"
)

// atTop maps fields of a version to the fields of a v1beta1 CRD's spec that apply to all versions.
var atTop = map[string]string{
	"schema":                   "validation",
	"subresources":             "subresources",
	"additionalPrinterColumns": "additionalPrinterColumns",
	"selectableFields":         "selectableFields",
	"name":                     "version",
}

// DocumentPath returns the path in a document of a CRD's field, which is named as in a report. In a v1beta1
// CRD, the field may be at the top level of the spec.
func DocumentPath(doc *input.Document, field string) string {
	path := vet.Place(field)
	if doc.Original != nil {
		return originalPath(doc, path)
	}
	if !Beta(doc) {
		return path
	}
	rest, ok := strings.CutPrefix(path, "spec.versions[")
	_, rest, closed := strings.Cut(rest, "].")
	if !ok || !closed {
		return path
	}
	name, end := rest, ""
	if i := strings.IndexAny(rest, ".["); i >= 0 {
		name, end = rest[:i], rest[i:]
	}
	spec, _ := doc.Object["spec"].(map[string]any)
	if top := atTop[name]; top != "" && spec[top] != nil {
		return "spec." + top + end
	}
	return path
}
