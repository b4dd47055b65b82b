package coverage

import (
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiversion "k8s.io/apimachinery/pkg/version"
)

// schemas holds the schemas of each CRD by version. A version has several if there are variants of
// the CRD.
type schemas map[string]map[string][]*apiextensionsv1.CustomResourceValidation

func (s schemas) add(crd *apiextensionsv1.CustomResourceDefinition) {
	if s[crd.Name] == nil {
		s[crd.Name] = map[string][]*apiextensionsv1.CustomResourceValidation{}
	}
	for _, v := range crd.Spec.Versions {
		s[crd.Name][v.Name] = append(s[crd.Name][v.Name], v.Schema)
	}
}

// first maps each version of a CRD to the newest version with an equal schema.
func (s schemas) first(crd string) map[string]string {
	versions := slices.SortedFunc(maps.Keys(s[crd]), func(a, b string) int { return -apiversion.CompareKubeAwareVersionStrings(a, b) })
	first := map[string]string{}
	for i, v := range versions {
		first[v] = v
		for _, newer := range versions[:i] {
			if first[newer] == newer && s.alike(crd, newer, v) {
				first[v] = newer
				break
			}
		}
	}
	return first
}

func (s schemas) alike(crd, a, b string) bool {
	return slices.ContainsFunc(s[crd][a], func(one *apiextensionsv1.CustomResourceValidation) bool {
		return slices.ContainsFunc(s[crd][b], func(other *apiextensionsv1.CustomResourceValidation) bool { return reflect.DeepEqual(one, other) })
	})
}

// join merges the coverage of the same rule in another version into i.
func (i *Item) join(other *Item, shown, others []shown) {
	i.Index = min(i.Index, other.Index)
	i.Ran += other.Ran
	i.Passed += other.Passed
	i.Rejected += other.Rejected
	i.Errors += other.Errors
	i.Ratcheted += other.Ratcheted
	i.isBool = i.isBool || other.isBool
	if len(i.Conditions) != len(other.Conditions) {
		return // i or other is not measured
	}
	for n := range i.Conditions {
		c, o := &i.Conditions[n], &other.Conditions[n]
		c.True += o.True
		c.False += o.False
		c.Errors += o.Errors
		for k := range shown[n] {
			shown[n][k] |= others[n][k]
		}
	}
}
