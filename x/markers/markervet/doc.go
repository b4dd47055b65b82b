// Package markervet reports the results of engine/vet for generated CRDs in the Go source from
// which they were generated. Each finding is reported once, at its marker, with the paths of all
// CRDs that the marker affects. The package also reports problems that only the source shows.
package markervet

// How it works. The vet results of a CRD are assigned to the markers of its rules, or to the field or type that lacks
// a bound (crd.go). Equal findings at the same marker are merged, whether they come from two CRDs or from two paths
// of a CRD (finding.go). Findings without a Go position are reported in the CRD's file.
