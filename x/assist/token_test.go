package assist_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/assist"
)

// TestTokens checks the class of each token, written as a letter.
func TestTokens(t *testing.T) {
	t.Parallel()
	const letters = "obvfFmMwntc"
	for src, want := range map[string]string{
		"self.a.size() > 1 // é":                         "v o f o m b b o n c",
		"self.?a.orValue('x') in ['é'] ? true : size(b)": "v o f o m b t b o b t b o w o F b v b",
		"self.all(e, has(e.a)) && x":                     "v o M b v o M b v o f b b o v",
		"self.all && has && 😀 'open":                     "v o f o v o o t",
	} {
		var got []string
		for _, token := range assist.Tokens(src) {
			got = append(got, letters[token.Class:token.Class+1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", src, strings.Join(got, " "), want)
		}
	}
}

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
