package position

import (
	"strings"
	"testing"
)

const oddObject = `spec:
  '"q"': 1
  "a\tb": 2
  a.b: {c: 3}
  a: {b: 4}
  'x[0]': 5
  list:
  - n: 6
    '[': {']': 7}
  labels: {k/l.m: 8, "it's": 9, '5': {z: 10}}
  "": {"": 11}
`

// TestNearestOddKeys checks fields in the API server's notation, which does not quote names.
func TestNearestOddKeys(t *testing.T) {
	t.Parallel()
	type place struct{ Line, Column int }
	d, err := Parse([]byte(oddObject))
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]place{
		`spec."q"`:                 {2, 3},
		"spec.a\tb":                {3, 3},
		"spec.a.b":                 {5, 7},
		"spec.a.b.c":               {4, 9},
		"spec.x[0]":                {6, 3},
		"spec.list[0].n":           {8, 5},
		"spec.list[0].[.]":         {9, 11},
		"spec.list[7].n":           {7, 3},
		"spec.labels.k/l.m":        {10, 12},
		"spec.labels[k/l.m]":       {10, 12},
		`spec.labels["it's"]`:      {10, 22},
		"spec.labels['it's']":      {10, 22},
		"spec.labels[5].z":         {10, 39},
		"spec..":                   {11, 8},
		"spec.nope.a":              {1, 1},
		"":                         {1, 1},
		"<nil>":                    {1, 1},
		"[":                        {1, 1},
		strings.Repeat("a.", 5000): {1, 1},
	} {
		at := d.Position(Nearest(d.Root, field).Start)
		if got := (place(at)); got != want {
			t.Errorf("%.40q: %v, want %v", field, got, want)
		}
	}
}
