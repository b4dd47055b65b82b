// Package level reports how thorough tests should be. CELADON_LEVEL is quick, full, or long; without it, tests are
// full.
package level

import "os"

// Quick reports whether tests should not use the corpora.
func Quick() bool { return os.Getenv("CELADON_LEVEL") == "quick" }

// Long reports whether tests should use whole corpora instead of samples, and run checks that take too long for
// each change.
func Long() bool { return os.Getenv("CELADON_LEVEL") == "long" }
