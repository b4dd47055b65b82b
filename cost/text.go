package cost

import "fmt"

// ExceedsText returns the API server's message for an estimate that exceeds its limit. subject names
// the estimate, for example "estimated rule cost".
func ExceedsText(subject string, cost, limit uint64) string {
	return fmt.Sprintf("%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)", subject, excessFactor(cost, limit))
}

func excessFactor(cost, limit uint64) string {
	factor := float64(cost) / float64(limit)
	switch {
	case factor > 100:
		return "more than 100x"
	case factor < 1.5: // %.1f could print 1.0x
		return fmt.Sprintf("%fx", factor)
	}
	return fmt.Sprintf("%.1fx", factor)
}
