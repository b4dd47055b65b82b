// Package markervet says in Go source what engine/vet says of the CRDs that a generator
// made of it: each finding once, at the marker that it is about, with all places of
// all CRDs that the marker feeds; and what only the source shows.
package markervet

// How it works. A CRD tells what vet says of it (crd.go), each thing at the marker of
// its rule, or at the field or type that a bound is missing in. What two CRDs, or two
// places of one, say of the same marker in the same words is one finding (finding.go).
// What nothing in Go stands for stays where it is in the CRD's own file.
