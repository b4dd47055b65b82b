package compare

import (
	"maps"

	"github.com/celadon-cel/celadon/x/valuediff"
)

// A Change is a path at which two objects differ.
type Change = valuediff.Change

// withoutMetadata returns a copy of an object. Metadata is omitted, because CRDs do not change it.
func withoutMetadata(obj map[string]any) map[string]any {
	obj = maps.Clone(obj)
	delete(obj, "metadata")
	return obj
}
