package compare

import (
	"regexp"

	"github.com/celadon-cel/celadon/internal/minors"
)

// maxKnown is the largest share of CRDs, and of writes, whose difference can be known.
const maxKnown = 0.001

// A known difference is not an error of Celadon, or an error that is not fixed yet.
type known struct {
	in     minors.Range
	aspect string
	line   *regexp.Regexp // matches a line that only one verdict has
	reason string
}

var knownDifferences = []known{}

// Known returns the reason for a difference of Kubernetes 1.minor, or "".
func Known(d *Difference, minor int) string {
	for _, k := range knownDifferences {
		if k.aspect != d.Aspect || !k.in.Include(minor) {
			continue
		}
		for _, lines := range [][]string{d.Missing, d.Extra} {
			for _, line := range lines {
				if k.line.MatchString(line) {
					return k.reason
				}
			}
		}
	}
	return ""
}
