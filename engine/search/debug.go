package search

import (
	"fmt"
	"sort"
)

func (h *hunt) top() string {
	var ks []string
	for k := range h.Blockers {
		ks = append(ks, k)
	}
	sort.Slice(ks, func(i, j int) bool {
		if h.Blockers[ks[i]] != h.Blockers[ks[j]] {
			return h.Blockers[ks[i]] > h.Blockers[ks[j]]
		}
		return ks[i] < ks[j]
	})
	out := ""
	for i, k := range ks {
		if i < 3 {
			out += fmt.Sprintf("\n      [%d] %.260s", h.Blockers[k], k)
		}
	}
	return out + "\n   "
}
