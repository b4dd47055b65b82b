package builtin

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Listing is a Resource and its entry in the API server's discovery.
type Listing struct {
	Resource
	Namespaced bool
	// Subresources is sorted.
	Subresources []string
}

// Resources returns all built-in kinds, sorted by group, version, and name. It creates the registries of all of them,
// which Validate does only for the kinds of requests.
func Resources() ([]Listing, error) {
	kinds := all()
	listings := make([]Listing, 0, len(kinds))
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), compareKinds) {
		served := kinds[kind]
		endpoints, err := served.endpoints()
		if err != nil {
			return nil, err
		}
		l := Listing{Resource: served.Resource, Namespaced: !served.clusterScoped(endpoints[""])}
		for _, name := range slices.Sorted(maps.Keys(endpoints)) {
			if name != "" {
				l.Subresources = append(l.Subresources, name)
			}
		}
		listings = append(listings, l)
	}
	return listings, nil
}

func compareKinds(a, b schema.GroupVersionKind) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
}
