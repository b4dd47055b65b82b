package resource

import (
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/engine/vet"
)

// atTop are what a CRD of the older version may have for all its versions at
// once, under the name that it has in each version.
var atTop = map[string]string{
	"schema":                   "validation",
	"subresources":             "subresources",
	"additionalPrinterColumns": "additionalPrinterColumns",
	"selectableFields":         "selectableFields",
	"name":                     "version",
}

// Place is where a field of a CRD, as a report names it, stands in a document.
func Place(doc *input.Document, field string) string {
	place := vet.Place(field)
	if !Beta(doc) {
		return place
	}
	rest, ok := strings.CutPrefix(place, "spec.versions[")
	_, rest, closed := strings.Cut(rest, "].")
	if !ok || !closed {
		return place
	}
	name, end := rest, ""
	if i := strings.IndexAny(rest, ".["); i >= 0 {
		name, end = rest[:i], rest[i:]
	}
	spec, _ := doc.Object["spec"].(map[string]any)
	if top := atTop[name]; top != "" && spec[top] != nil {
		return "spec." + top + end
	}
	return place
}
