package assist_test

import (
	"testing"

	"github.com/celadon-cel/celadon/x/assist"
)

func FuzzPlace(f *testing.F) {
	for src := range fixedRules {
		f.Add(src, len(src)/2)
	}
	for _, src := range []string{"self.", "self.spec.?env.optMap(e, e.", "has(self.", "self.spec.env.map(e, e.name, [", "'", "a ? b", "\xff.\xfe(", "{self: [", "😀.é && self.spec.replicas = 1"} {
		f.Add(src, len(src))
	}
	p := placeIn(f, "../../examples/crontab/crd.yaml", "")
	p.Part = assist.Rule
	f.Fuzz(func(t *testing.T, src string, at int) {
		if len(src) > 300 {
			return
		}
		size := len([]rune(src))
		within := func(start, end int) {
			if start < 0 || end < start || end > size {
				t.Fatalf("%q at %d: %d to %d", src, at, start, end)
			}
		}
		c := p.CompleteAt(src, at)
		within(c.Start, max(c.Start, min(max(at, 0), size)))
		if h := p.Hover(src, at); h != nil {
			within(h.Start, h.End)
			h.Lines()
		}
		if c := p.Call(src, at); c != nil {
			within(c.Start, max(c.Start, c.Start+1)-1)
			for _, form := range c.Function.Forms {
				for _, s := range form.Parameters {
					_ = form.Signature[s.Start:s.End]
				}
			}
		}
		for _, problem := range p.Problems(src) {
			within(problem.Start, problem.End)
			for _, m := range problem.Fixes {
				for _, e := range m.Edits {
					within(e.Start, e.End)
				}
				gone(t, p, src, problem, m)
			}
		}
	})
}
