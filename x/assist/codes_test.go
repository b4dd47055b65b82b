package assist_test

import (
	"testing"

	"github.com/celadon-cel/celadon/x/assist"
)

// TestIndex checks that each example has its code, and that its first fix is the fixed rule.
func TestIndex(t *testing.T) {
	p := placeIn(t, "testdata/database.yaml", "")
	p.Part = assist.Rule
	seen := map[string]bool{}
	for _, e := range assist.Index() {
		if found, ok := assist.Find(e.Code); !ok || found != e || seen[e.Code] {
			t.Errorf("%s: not found, or twice", e.Code)
		}
		seen[e.Code] = true
		if e.Example == "" {
			continue
		}
		problems := p.Problems(e.Example)
		if len(problems) == 0 {
			t.Errorf("%s: no problem in %s", e.Code, e.Example)
			continue
		}
		problem := &problems[0]
		fixed := problem.Fixed(e.Example)
		for _, fix := range problem.Fixes {
			if e.Code == assist.UnguardedField && assist.Apply(e.Example, fix.Edits) == e.Fixed {
				fixed = e.Fixed // one of two guards
			}
		}
		if problem.Code != e.Code || fixed != e.Fixed {
			t.Errorf("%s: %s is %s (%s: %s), fixed %q, want %q", e.Code, e.Example, problem.Code, problem.Summary(), problem.Hint(), fixed, e.Fixed)
		}
	}
	for _, m := range readMistakes(t) {
		p := placeIn(t, "testdata/database.yaml", m.path)
		p.Part = assist.Rule
		if problem := p.Problems(m.src)[0]; !seen[problem.Code] {
			t.Errorf("%s: code %q (%s)", m.src, problem.Code, problem.Message)
		}
	}
}
