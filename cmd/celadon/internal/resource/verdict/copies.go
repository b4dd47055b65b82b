package verdict

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// withoutCopies removes CRDs that equal another CRD of the same name, as in a repository that has a CRD
// in its chart, too. Two CRDs of a name that differ are kept, because it is not clear which is meant.
func withoutCopies(given []crdRead) (kept []crdRead) {
	first := map[string]crdRead{}
	for _, r := range given {
		before, seen := first[r.CRD.Name]
		if seen && reflect.DeepEqual(before.CRD.Spec, r.CRD.Spec) {
			continue
		}
		if !seen {
			first[r.CRD.Name] = r
		}
		kept = append(kept, r)
	}
	return kept
}

// differsFrom returns the error for a CRD that has the name of an earlier one.
func (r crdRead) differsFrom(given []crdRead) error {
	for _, other := range given {
		if other.CRD.Name != r.CRD.Name {
			continue
		}
		for c := range compare.Values(decoded(other), decoded(r)) {
			return fmt.Errorf("%s: %s differs from the one in %s at spec.%s (%s, there %s): keep one of them",
				r.Location, r.CRD.Name, other.Location, engine.FormatPath(c.Path), shortValue(c.After, c.Removed), shortValue(c.Before, c.Added))
		}
		break
	}
	return fmt.Errorf("%s: %s is a duplicate: keep one of them", r.Location, r.CRD.Name)
}

// maxDifference limits the length of a value in a message.
const maxDifference = 60

func shortValue(v any, absent bool) string {
	if absent {
		return "nothing"
	}
	return preview.JSON(v, maxDifference)
}

// decoded returns the spec of a CRD as decoded JSON, or nil.
func decoded(r crdRead) any {
	data, err := json.Marshal(r.CRD.Spec)
	if err != nil {
		return nil
	}
	v, err := engine.Decode(data)
	if err != nil {
		return nil
	}
	return v
}
