package policyrequest

import (
	"slices"

	"github.com/celadon-cel/celadon/engine/x/builtin"
)

// ExampleOf returns a small object of the first built-in kind that a policy among
// documents matches by the name of its resource. It returns nil if there is none.
func ExampleOf(documents []map[string]any) (map[string]any, error) {
	catalog, err := builtin.Newest()
	if err != nil {
		return nil, err
	}
	for _, doc := range documents {
		if doc["kind"] != Kind {
			continue
		}
		spec, _ := doc["spec"].(map[string]any)
		constraints, _ := spec["matchConstraints"].(map[string]any)
		rules, _ := constraints["resourceRules"].([]any)
		for _, rule := range rules {
			fields, _ := rule.(map[string]any)
			for _, k := range catalog.Kinds() {
				if k.Resource != "" && lists(fields["apiGroups"], k.Group) && lists(fields["apiVersions"], k.Version) && lists(fields["resources"], k.Resource) {
					return catalog.Example(k.GroupVersionKind), nil
				}
			}
		}
	}
	return nil, nil
}

func lists(list any, want string) bool {
	items, _ := list.([]any)
	return slices.Contains(items, any(want))
}
