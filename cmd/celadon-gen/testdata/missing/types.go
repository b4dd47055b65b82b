// Package missing imports what is not there.
package missing

import "example.com/missing"

type T = missing.T
