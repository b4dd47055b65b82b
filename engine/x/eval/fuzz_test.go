package eval

import (
	"errors"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine/x/celenv"
)

// FuzzDifferential compares expressions over random values with cel-go on upstream's values. The
// values may have fields that the schema does not declare.
func FuzzDifferential(f *testing.F) {
	if testing.Short() {
		f.Skip("takes long")
	}
	decl := declare(f, read(f, "testdata/schema.yaml"))
	for i, src := range expressions(f, "testdata/expressions.txt") {
		f.Add(src, uint64(i))
	}
	for i, macro := range unnamedMacros {
		f.Add(strings.ReplaceAll(macro, "MAP", []string{"dyn(self)", "dyn(self.nested)", "dyn(self.items[0])", "dyn(self.embedded)"}[i%4]), uint64(5*i))
	}
	env := environment(f, decl, false)
	f.Fuzz(func(t *testing.T, src string, seed uint64) {
		if len(src) > 300 || strings.Count(src, ".map(") > 3 {
			t.Skip("takes too long for a fuzz step")
		}
		ast, err := celenv.Check(env, src)
		if err != nil {
			t.Skip("no expression: there is nothing to evaluate")
		}
		const limit = 20_000
		ours, err := New(env, ast, decl, limit)
		_, theirErr := celProgram(env, ast, decl, limit)
		if err != nil || theirErr != nil {
			if err == nil || theirErr == nil || err.Error() != theirErr.Error() {
				t.Fatalf("%s: plan: got %v, want %v", src, err, theirErr)
			}
			return
		}
		g := newGenerator(seed, src, float64(seed%5)*0.01)
		g.unknown = int(seed / 5 % 3)
		self := g.some(decl, 0)
		old := g.changed(self, decl)
		out := ours.Eval(t.Context(), BindOld(decl, self, old))
		var unbounded *OverworkError
		var internal *InternalError
		switch {
		case errors.As(out.Err, &unbounded):
			t.Skip("cel-go would take memory or time without bound")
		case errors.As(out.Err, &internal):
			t.Fatalf("%s\n%v\n%s", src, internal, internal.Stack)
		}
		s := &subject{env, ast, decl, ours}
		if diff := s.againstServer(t, self, old, limit); diff != "" {
			t.Errorf("%s\n%s", src, diff)
		}
	})
}
