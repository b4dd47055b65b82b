package roundtrip

import (
	"reflect"
	"testing"
)

func TestDifferencesOfLists(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after any
		want          []Kind
	}{
		"order":                {[]any{int64(1), int64(2)}, []any{int64(2), int64(1)}, []Kind{Order}},
		"order of objects":     {[]any{map[string]any{"a": int64(1)}, "x"}, []any{"x", map[string]any{"a": int64(1)}}, []Kind{Order}},
		"null, an empty list":  {nil, []any{}, []Kind{Changed}},
		"an empty list, null":  {[]any{}, nil, []Kind{Changed}},
		"an integer, a number": {[]any{int64(1)}, []any{1.0}, []Kind{Changed}},
		"both":                 {[]any{int64(1), 1.0}, []any{1.0, int64(1)}, []Kind{Changed, Changed}},
		"more":                 {[]any{"a"}, []any{"a", "a"}, []Kind{Changed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []Kind
			for _, d := range differences(map[string]any{"list": test.before}, map[string]any{"list": test.after}, nil, nil) {
				got = append(got, d.kind)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
