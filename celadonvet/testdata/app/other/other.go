// Package other has no markers.
package other

// Name is none of a kind.
type Name string
