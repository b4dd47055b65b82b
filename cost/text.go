package cost

import "fmt"

// ExceedsText is how the API server says that an estimate passes its limit;
// what names the estimate, as "estimated rule cost".
func ExceedsText(what string, cost, limit uint64) string {
	return fmt.Sprintf("%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)", what, excessFactor(cost, limit))
}

// excessFactor is how far a cost passes its limit, in the API server's words.
func excessFactor(cost, limit uint64) string {
	factor := float64(cost) / float64(limit)
	switch {
	case factor > 100:
		return "more than 100x"
	case factor < 1.5: // one digit would read as 1.0x
		return fmt.Sprintf("%fx", factor)
	}
	return fmt.Sprintf("%.1fx", factor)
}
