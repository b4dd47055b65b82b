package celvalue

import (
	"github.com/celadon-cel/celadon/internal/minors"
	"github.com/celadon-cel/celadon/types"
)

// A quirk is a property of CEL values that only older versions have.
type quirk uint8

const (
	// jsonSums: the result of + on lists holds decoded JSON that is read with the schema of the first
	// list. Items that a rule computes are Go values, which the schema may reject.
	jsonSums quirk = 1 << iota
	// oneSidedLists: sets and map lists of the same length are equal if the first has each item of
	// the second.
	oneSidedLists
	// ambiguousKeys: composite keys of more than three values are not quoted.
	ambiguousKeys
	// strictFields: objects are not equal if a field is null, or if its name is another field's
	// identifier.
	strictFields
)

// quirkMinors holds the versions that have each quirk; see k8s.io/apiserver/pkg/cel/common.
var quirkMinors = map[quirk]minors.Range{
	jsonSums:      minors.Until(37), // valuesunstructured.go, Add
	oneSidedLists: minors.Until(37), // valuesunstructured.go, Equal
	ambiguousKeys: minors.Until(37), // valuesunstructured.go, toMapKey
	strictFields:  minors.Until(34), // values.go, unstructuredMap.Equal
}

// quirksOf holds the quirks of each minor version.
var quirksOf = func() (all [types.Last + 1]quirk) {
	for q, in := range quirkMinors {
		for minor := range all {
			if in.Include(minor) {
				all[minor] |= q
			}
		}
	}
	return all
}()

// has reports whether the values of d have the quirk.
func has(d *types.Decl, q quirk) bool {
	return quirksOf[min(max(d.Version().Minor, 0), types.Last)]&q != 0
}
