package eval

import (
	"context"
	"testing"
)

// TestPricedFirst checks that the limit ends an evaluation before a call with quadratic work, with
// cel-go's outcome.
func TestPricedFirst(t *testing.T) {
	t.Parallel()
	decl := declare(t, read(t, "testdata/schema.yaml"))
	env := environment(t, decl, false)
	self := values(t, "testdata/values.yaml")[0]
	for _, src := range []string{
		"sets.contains(self.strings, self.strings)", "sets.intersects(self.strings, ['x'])", "sets.equivalent(self.strings, self.strings)",
		"self.strings.distinct() == self.strings", "self.strings.sort() == self.strings", "self.items.sortBy(x, x.name).size() > 0",
		"[self.strings[9]].sort().size() == 1", "sets.contains([self.strings[9]], self.strings)",
	} {
		s, err := newSubject(env, decl, src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		for limit := range int64(60) {
			if diff, _ := s.difference(func() *Activation { return Bind(decl, self) }, limit); diff != "" {
				t.Errorf("%s: limit %d\n%s", src, limit, diff)
			}
		}
	}
}

func TestStacksAreFreed(t *testing.T) {
	t.Parallel()
	decl := declare(t, read(t, "testdata/schema.yaml"))
	env := environment(t, decl, false)
	for _, src := range []string{
		"lists.range(100).map(s, 'a,b,c'.split(',').all(p, true)).size() > 0",
		"lists.range(1000).all(s, 'a,b,c'.split(',').all(p, true))",
		"lists.range(1000).exists_one(s, 'a,b,c'.split(',').all(p, p == ''))",
		"self.items.map(s, self.items.map(x, x.name).size()).size() > 0",
	} {
		s, err := newSubject(env, decl, src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		items := make([]any, 1000)
		for i := range items {
			items[i] = map[string]any{"name": "a"}
		}
		a := Bind(decl, map[string]any{"items": items[:50]})
		s.ours.limit = noLimit
		if out := s.ours.Eval(context.Background(), a); out.Err != nil {
			t.Fatalf("%s: %s", src, show(out))
		}
		if n := cap(a.frame.lists); n > 256 {
			t.Errorf("%s: the stack grew to %d", src, n)
		}
	}
}
