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
	r := &Report{Name: c.after.crd.Name}
	for _, ch := range c.changes {
		list := []CRDChange{ch.CRDChange}
		if len(ch.found) > 0 {
			list = ch.found
		}
		for _, one := range list {
			if i := slices.IndexFunc(r.Changes, one.sameAs); i >= 0 {
				r.Changes[i].Also = append(r.Changes[i].Also, one.Version)
				continue
			}
			r.Changes = append(r.Changes, one)
		}
	}
	slices.SortStableFunc(r.Changes, func(a, b CRDChange) int {
		return cmp.Or(cmp.Compare(rank[a.Effect], rank[b.Effect]), strings.Compare(a.Path, b.Path))
	})
	return r
}

// sameAs reports whether c and o are the same change, with the same effect, in two versions.
func (c *CRDChange) sameAs(o CRDChange) bool {
	return c.Version != "" && o.Version != c.Version && c.OldVersion == c.Version && o.OldVersion == o.Version &&
		c.Path == o.Path && c.Subject == o.Subject && c.Old == o.Old && c.New == o.New && c.Effect == o.Effect && c.By == o.By
}
