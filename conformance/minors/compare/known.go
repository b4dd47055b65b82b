package compare

import (
	"regexp"
	"slices"

	"github.com/celadon-cel/celadon/internal/minors"
)

// A known difference is not an error of Celadon, or an error that is not fixed yet.
type known struct {
	in     minors.Range
	line   *regexp.Regexp // matches a line that only one verdict has
	reason string
	// share is the largest share of the compared rules and writes that can have the difference.
	share float64
}

// knownDifferences are in messages only: the verdicts are the same.
var knownDifferences = []known{
	{in: minors.Until(37), line: regexp.MustCompile("compilation failed(.|\n)*: '`'"), reason: "syntax errors of names in backticks are those of 1.37", share: 0.001},
	{in: minors.Until(33), line: regexp.MustCompile("iteration variable overwrites accumulator variable"), reason: "a macro whose variable is __result__ has the error of 1.33", share: 0.001},
	{in: minors.Range{Since: 32, Until: 33}, line: regexp.MustCompile(`applied to '[^\n]*(\(, |, \)|\(\))`), reason: "some errors of the type checker of 1.32 in two-variable macros over a dyn value", share: 0.001},
	{in: minors.Until(33), line: regexp.MustCompile("unknown time zone .*%!"), reason: "an unknown time zone with a percent sign is formatted until 1.32", share: 0.001},
	{in: minors.Until(31), line: regexp.MustCompile("invalid qualifier type: <nil>"), reason: "the index null has the error of 1.31", share: 0.001},
	{in: minors.Until(31), line: regexp.MustCompile(`optional\(`), reason: "the type optional has the name of 1.31 in errors", share: 0.001},
	{in: minors.Until(29), line: regexp.MustCompile("program instantiation failed: (type conversion error|no such overload)"), reason: "a constant conversion that fails has the error of 1.29", share: 0.001},
	{in: minors.Until(29), line: regexp.MustCompile("compilation failed"), reason: "some errors of the type checker of 1.28", share: 0.02},
}

// Known returns the reason for a difference of Kubernetes 1.minor, or "".
func Known(d *Difference, minor int) string {
	for _, k := range knownDifferences {
		if (d.Aspect == crdError || d.Aspect == cause) && k.in.Include(minor) && k.matches(d) {
			return k.reason
		}
	}
	return ""
}

func (k *known) matches(d *Difference) bool {
	return slices.ContainsFunc(d.Missing, k.line.MatchString) || slices.ContainsFunc(d.Extra, k.line.MatchString)
}

func allowed(reason string) float64 {
	for _, k := range knownDifferences {
		if k.reason == reason {
			return k.share
		}
	}
	return 0
}
