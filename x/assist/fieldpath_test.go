package assist_test

import (
	"strconv"
	"testing"
)

func TestCompleteFieldPath(t *testing.T) {
	t.Parallel()
	p := placeOf(t, []byte(open), "")
	for line, want := range map[string]string{
		"|>":                   "0 .",
		".|>":                  "0 .apiVersion .kind .metadata .spec",
		".spec.m|>":            "5 .mode",
		".spec.labels['a'].|>": "18",
		".nope.|>":             "6",
	} {
		src, at := cursor(line)
		c := p.CompleteFieldPath(src, at)
		got := strconv.Itoa(c.Start)
		for _, candidate := range c.Candidates {
			got += " " + candidate.Text
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
