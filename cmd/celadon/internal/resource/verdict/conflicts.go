package verdict

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// withoutCopies removes CRDs that equal another CRD of the same name for writes, as in a repository that has a CRD
// in its chart as well. Two CRDs of a name that differ are kept, because it is not clear which is meant.
func withoutCopies(given []crdRead) (kept []crdRead) {
	first := map[string]crdRead{}
	for _, r := range given {
		before, seen := first[r.CRD.Name]
		if seen && r.CRD.ForWrites().SameSpec(before.CRD.ForWrites()) {
			continue
		}
		if !seen {
			first[r.CRD.Name] = r
		}
		kept = append(kept, r)
	}
	return kept
}

// reportConflicts makes CRDs that differ from an earlier CRD of their name undecided, and the objects of their kinds as well.
func (c *CRDs) reportConflicts(conflicts, given []crdRead, use Use) {
	c.conflicts = map[schema.GroupKind]string{}
	for _, r := range conflicts {
		problem := r.differsFrom(given)
		if use.Before || use.First {
			c.Problems = append(c.Problems, fmt.Errorf("%s: %s", r.Location, problem))
			continue
		}
		if r.vetted == nil {
			r.vetted = &finding.CRD{File: r.file, Line: r.line, Name: r.CRD.Name, Accepted: true, Causes: []finding.Cause{}}
			c.Verdicts = append(c.Verdicts, r.vetted)
		}
		if r.vetted.Accepted {
			r.vetted.Accepted, r.vetted.Undecided, r.vetted.Problem = false, true, problem
		}
		kind := schema.GroupKind{Group: r.CRD.Spec.Group, Kind: r.CRD.Spec.Names.Kind}
		if _, ok := c.conflicts[kind]; !ok {
			c.conflicts[kind] = fmt.Sprintf("is undecided: the CRD %s in %s %s", r.CRD.Name, r.Location, problem)
		}
	}
}

// differsFrom returns the error about a CRD that has the name of an earlier one.
func (r crdRead) differsFrom(given []crdRead) string {
	for _, other := range given {
		if other.CRD.Name != r.CRD.Name {
			continue
		}
		for change := range valuediff.Values(decoded(other), decoded(r)) {
			return fmt.Sprintf("differs from the one in %s at spec.%s (%s, there %s): keep one of them, or skip one with --exclude",
				other.Location, engine.FormatPath(change.Path),
				shortValue(change.After, change.Removed), shortValue(change.Before, change.Added))
		}
		break
	}
	return "is a duplicate: keep one of them, or skip one with --exclude"
}

// maxDifference limits the length of a value in a message.
const maxDifference = 60

func shortValue(v any, absent bool) string {
	if absent {
		return "nothing"
	}
	return preview.JSON(v, maxDifference)
}

// decoded returns what writes depend on in the spec of a CRD as decoded JSON, or nil.
func decoded(r crdRead) any {
	data, err := json.Marshal(r.CRD.ForWrites().Spec)
	if err != nil {
		return nil
	}
	v, err := engine.Decode(data)
	if err != nil {
		return nil
	}
	return v
}
