package types

import "github.com/celadon-cel/celadon/internal/minors"

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
	// noEmptyObjects: an object without declared fields is an error.
	noEmptyObjects
)

// quirkMinors holds the versions that have each quirk; see k8s.io/apiserver/pkg/cel/common.
var quirkMinors = map[quirk]minors.Range{
	jsonSums:       minors.Until(37), // valuesunstructured.go, Add
	oneSidedLists:  minors.Until(37), // valuesunstructured.go, Equal
	ambiguousKeys:  minors.Until(37), // valuesunstructured.go, toMapKey
	strictFields:   minors.Until(34), // values.go, unstructuredMap.Equal
	noEmptyObjects: minors.Until(29), // values.go, UnstructuredToVal
}

// quirks returns the quirks of a version.
func (v Version) quirks() (all quirk) {
	for q, in := range quirkMinors {
		if in.Include(v.Minor) {
			all |= q
		}
	}
	return all
}

// has reports whether the values of d have the quirk.
func (d *Decl) has(q quirk) bool { return d.quirks&q != 0 }
