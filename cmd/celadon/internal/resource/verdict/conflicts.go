package verdict

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/preview"
	"github.com/celadon-cel/celadon/x/valuediff"
)

// withoutCopies removes CRDs that equal the first CRD of their name for writes, as in a repository that has a CRD
// in its chart as well. A CRD that differs from the first is kept, because it is not clear which is meant.
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

// A conflict is a kind that CRDs of the same name define differently.
type conflict struct {
	problem string
	copies  []resource.Read // the different CRDs, at most one more than maxCopies
	engine  engine.Config
}

// maxCopies limits the CRDs of a name that validate its objects. With more CRDs, the objects are undecided.
const maxCopies = 16

func (c *CRDs) reportConflicts(conflicts, given []crdRead, use Use, cfg engine.Config) {
	c.conflicts = map[schema.GroupKind]*conflict{}
	for _, r := range conflicts {
		problem := r.differsFrom(given)
		if use.Before || use.Unique {
			c.Problems = append(c.Problems, fmt.Errorf("%s: %s", r.Location, problem))
			continue
		}
		kind := schema.GroupKind{Group: r.CRD.Spec.Group, Kind: r.CRD.Spec.Names.Kind}
		of := c.conflicts[kind]
		if of == nil {
			of = &conflict{problem: fmt.Sprintf("is undecided: the CRD %s in %s %s", r.CRD.Name, r.Location, problem), engine: cfg}
			first := slices.IndexFunc(given, func(g crdRead) bool { return g.CRD.Name == r.CRD.Name })
			of.copies = []resource.Read{given[first].Read}
			c.conflicts[kind] = of
		}
		isCopy := func(other resource.Read) bool { return r.CRD.ForWrites().SameSpec(other.CRD.ForWrites()) }
		if len(of.copies) <= maxCopies && !slices.ContainsFunc(of.copies, isCopy) {
			of.copies = append(of.copies, r.Read)
		}
	}
}

func (c *CRDs) conflictNotes() (notes []error) {
	byName := func(a, b schema.GroupKind) int { return cmp.Compare(a.String(), b.String()) }
	for _, kind := range slices.SortedFunc(maps.Keys(c.conflicts), byName) {
		of := c.conflicts[kind]
		notes = append(notes, fmt.Errorf("%d CRDs of %s differ: an object is undecided unless its result is the same by each", len(of.copies), kind))
	}
	return notes
}

// decideByEach returns the report on an object of a kind with a conflict. It returns nil if anything but the cost
// depends on the CRD, or if this is not known.
func (d *Decider) decideByEach(ctx context.Context, doc *input.Document, of *conflict) *finding.Object {
	if len(of.copies) > maxCopies {
		return nil
	}
	deciders, _ := d.copies.LoadOrStore(of, sync.OnceValue(func() (all []*Decider) {
		for _, read := range of.copies {
			all = append(all, New(d.Config, NewCRDs(of.engine, read)))
		}
		return all
	}))
	var first *finding.Object
	var text []byte
	for _, decider := range deciders.(func() []*Decider)() {
		report := decider.Decide(ctx, doc)
		if report == nil {
			return nil
		}
		compared := *report
		compared.Cost = 0
		data, err := json.Marshal(&compared)
		if err != nil || first != nil && !bytes.Equal(data, text) {
			return nil
		}
		if first == nil {
			first, text = report, data
		}
	}
	return first
}

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

const maxDifference = 60

func shortValue(v any, absent bool) string {
	if absent {
		return "nothing"
	}
	return preview.JSON(v, maxDifference)
}

func decoded(r crdRead) map[string]any {
	spec, _ := resource.Mapping(r.CRD.ForWrites().Spec)
	return spec
}
