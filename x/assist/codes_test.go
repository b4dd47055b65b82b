package assist_test

import (
	"slices"
	"testing"

	"github.com/celadon-cel/celadon/x/assist"
)

var atRunTime = []string{assist.AbsentField, assist.IndexRange, assist.DivisionByZero, assist.EmptyOptional, assist.InvalidValue}

// Mistakes that only show for some objects have an example without a code.
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
		if problems := p.Problems(e.Fixed); e.Fixed != "" && len(problems) > 0 && problems[0].Code != assist.UnguardedField {
			t.Errorf("%s: %s is fixed, but %s", e.Code, e.Fixed, problems[0].Summary())
		}
		problems := p.Problems(e.Example)
		if slices.Contains(atRunTime, e.Code) {
			continue
		}
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
		if problem.Code != e.Code || fixed != e.Fixed && fixed != "" {
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
