package builtin

import (
	"cmp"
	"maps"
	"slices"
)

// Resources returns all built-in kinds, sorted by group, version, and kind.
func Resources() []*Resource {
	return slices.SortedFunc(maps.Values(all()), func(a, b *Resource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
}

// Subresources returns the sorted names of the subresources of a resource.
func (r *Resource) Subresources() (names []string) {
	endpoints, err := r.endpoints()
	if err != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}
