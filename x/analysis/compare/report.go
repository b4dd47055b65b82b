package compare

import (
	"cmp"
	"slices"
	"strings"
)

// rank orders effects by severity.
var rank = map[Effect]int{Breaking: 0, Both: 1, Unknown: 2, Loosening: 3, Equivalent: 4}

// report returns the changes in order. A change that several versions share is included once.
func (c *comparison) report() *Report {
	r := &Report{Name: c.after.crd.Name, Work: c.spent}
	shared := map[sharedChange]int{} // by index in r.Changes
	for _, ch := range c.changes {
		list := []CRDChange{ch.CRDChange}
		if len(ch.found) > 0 {
			list = ch.found
		}
		for _, one := range list {
			if key, ok := one.shared(); ok {
				if i, ok := shared[key]; ok && r.Changes[i].Version != one.Version {
					r.Changes[i].Also = append(r.Changes[i].Also, one.Version)
					continue
				} else if !ok {
					shared[key] = len(r.Changes)
				}
			}
			r.Changes = append(r.Changes, one)
		}
	}
	slices.SortStableFunc(r.Changes, func(a, b CRDChange) int {
		return cmp.Or(cmp.Compare(rank[a.Effect], rank[b.Effect]), strings.Compare(a.Path, b.Path))
	})
	return r
}

// A sharedChange identifies a change that several versions can share.
type sharedChange struct {
	path, subject, old, new string
	effect                  Effect
	by                      Basis
}

// shared returns the identity of c in all versions. It returns false if c does not belong to a version that
// both CRDs have.
func (c *CRDChange) shared() (sharedChange, bool) {
	return sharedChange{c.Path, c.Subject, c.Old, c.New, c.Effect, c.By}, c.Version != "" && c.OldVersion == c.Version
}
