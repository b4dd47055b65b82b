package apply

import (
	"reflect"
	"testing"
)

func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	given := map[string]any{"a": float64(80), "b": []any{float64(1), 1.5, "x", nil}, "c": map[string]any{"d": int64(1)}, "e": 1e300}
	want := map[string]any{"a": int64(80), "b": []any{int64(1), 1.5, "x", nil}, "c": map[string]any{"d": int64(1)}, "e": 1e300}
	got := wholeNumbers(given)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if given["a"] != float64(80) || given["b"].([]any)[0] != float64(1) {
		t.Errorf("the given value is now %v", given)
	}
	if got := wholeNumbers(want); !reflect.DeepEqual(got, want) {
		t.Errorf("a value without such numbers changes to %v", got)
	}
}
