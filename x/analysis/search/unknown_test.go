package search

import "testing"

// TestNoUnknownFields checks that witnesses have no unknown fields, because the server prunes them.
func TestNoUnknownFields(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		`optional.of(false).orValue(2u > 2) || [dyn(self)].exists(m, m.exists(k, k.startsWith('b')))`,
		`!dyn(self).exists(k, k == 'other')`,
	} {
		s := searching(t, specWith(rule, "a: {type: object, properties: {b: {type: string}}, x-kubernetes-embedded-resource: true}"), Config{Steps: 200})
		for _, want := range []Want{Rejected, Errs, Accepted} {
			a, err := s.Find(t.Context(), s.Rules()[0], want)
			if err != nil {
				t.Fatal(err)
			}
			if a.Witness != nil && len(a.Witness.Result.Strict) > 0 {
				t.Errorf("%s, %s: %v has unknown fields", rule, want, a.Witness.Object)
			}
		}
	}
}
