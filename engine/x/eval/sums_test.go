package eval

import (
	"context"
	"testing"
)

// TestSumsAreCopies checks that sums of a list share no array. Until 1.36, two sums of one list in the
// API server do if the decoder left room in the list's array, and the second then changes the first.
func TestSumsAreCopies(t *testing.T) {
	t.Parallel()
	text, _ := versionCases(t)
	for _, minor := range recorded {
		decl := declareFor(t, text, minor)
		env := environmentFor(t, decl, minor)
		for _, src := range []string{
			"[self.l].all(l, [l + ['b'], l + ['c']][0][1] == 'b')",
			"[self.set].all(s, [s + ['b'], s + ['c']][0][1] == 'b')",
		} {
			s, err := newSubject(env, decl, src)
			if err != nil {
				t.Fatal(err)
			}
			list := append(make([]any, 0, 4), "a")
			self := map[string]any{"l": list, "set": list}
			if out := s.ours.Eval(context.Background(), Bind(decl, self)); out.Err != nil || out.False() {
				t.Errorf("1.%d: %s: %s", minor, src, show(out))
			}
			if list[:2][1] != nil {
				t.Errorf("1.%d: %s changes the object's array", minor, src)
			}
		}
	}
}
