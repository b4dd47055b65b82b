package eval

import (
	"errors"
	"strings"
	"testing"
)

// FuzzDifferential evaluates any expression over any value of the table's
// declaration, here and in cel-go.
func FuzzDifferential(f *testing.F) {
	decl := declare(f, read(f, "testdata/schema.yaml"))
	for i, src := range expressions(f, "testdata/expressions.txt") {
		f.Add(src, uint64(i))
	}
	env := environment(f, decl, false)
	f.Fuzz(func(t *testing.T, src string, seed uint64) {
		if len(src) > 300 || strings.Count(src, ".map(") > 3 {
			t.Skip("takes too long for a fuzz step")
		}
		ast, issues := env.Compile(src)
		if issues.Err() != nil {
			t.Skip("no expression: there is nothing to evaluate")
		}
		const limit = 20_000
		ours, err := New(env, ast, decl, limit)
		theirs, theirErr := celProgram(env, ast, decl, limit)
		if err != nil || theirErr != nil {
			if err == nil || theirErr == nil || err.Error() != theirErr.Error() {
				t.Fatalf("%s: plan: got %v, want %v", src, err, theirErr)
			}
			return
		}
		g := newGenerator(seed, src, float64(seed%5)*0.01)
		self := g.some(decl, 0)
		old := g.changed(self, decl)
		s := &subject{env, ast, decl, ours}
		bind := func() *Activation { return BindOld(decl, self, old) }
		var unbounded *OverworkError
		if errors.As(ours.Eval(t.Context(), bind()).Err, &unbounded) {
			t.Skip("cel-go would take memory or time without bound")
		}
		// cel-go goes through its own maps in any order.
		var diff string
		for range 20 {
			if diff, _ = s.against(theirs, bind, limit); diff == "" {
				return
			}
		}
		t.Errorf("%s\n%s", src, diff)
	})
}
