package search

import "testing"

func TestSuits(t *testing.T) {
	t.Parallel()
	s := searching(t, specWith("true", "c: {type: integer, enum: [1, 2]}", "i: {type: integer}", "n: {type: number}"), Config{})
	b := s.newSolver(t.Context(), "", 1).newAdjuster(&candidate{}, nil, instance{})
	for _, tt := range []struct {
		field string
		v     any
		as    any // nil if v does not match
	}{
		{"c", int64(2), int64(2)}, {"c", 2.0, int64(2)}, {"c", 3.0, nil}, {"c", int64(3), nil}, {"i", 3.0, int64(3)}, {"i", 3.5, nil}, {"n", 3.5, 3.5},
	} {
		if v, ok := b.suits(s.root.field("spec").field(tt.field), tt.v); ok != (tt.as != nil) || ok && v != tt.as {
			t.Errorf("%s: %v: got %v, %v", tt.field, tt.v, v, ok)
		}
	}
}
