package assist_test

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/assist"
)

// TestHostileExpressions tries untrusted expressions that are deep, long, or mostly wrong.
func TestHostileExpressions(t *testing.T) {
	t.Parallel()
	p := placeIn(t, "../../examples/crontab/crd.yaml", "")
	p.Part = assist.Rule
	const large = 12_000
	for name, src := range map[string]string{
		"one operator":        strings.Repeat("=", large),
		"operators":           strings.Repeat("= ", large),
		"wrong comparisons":   strings.Repeat("a = 1 && ", large/8) + "true",
		"words":               strings.Repeat("true and ", large/8) + "true",
		"open brackets":       strings.Repeat("(", large),
		"closing brackets":    "1" + strings.Repeat(")", large),
		"a quote, brackets":   "'a" + strings.Repeat(")", large),
		"quotes":              strings.Repeat("'", large) + "'",
		"names":               strings.Repeat("spec.x == 1 && ", large/10) + "true",
		"a chain":             "self" + strings.Repeat(".spec", large/5),
		"a chain of options":  "self" + strings.Repeat(".?spec", large/5),
		"macros":              strings.Repeat("[1].all(x, ", 200) + "x",
		"macros in optionals": "self.?spec" + strings.Repeat(".optMap(x, x)", 40),
		"commas":              "size(" + strings.Repeat("1,", large),
		"unguarded":           strings.Repeat("self.status.phase == '' && ", large/100) + "true",
		"no characters":       strings.Repeat("\xff", large),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := len([]rune(src))
			for _, at := range []int{0, size / 2, size} {
				p.CompleteAt(src, at)
				p.Hover(src, at)
				p.Call(src, at)
			}
			p.Problems(src)
		})
	}
}
