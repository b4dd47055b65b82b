package search

import (
	"math/rand/v2"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

func TestFormatsAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	x := newTexts().forQuestion(nil)
	for name, p := range formats {
		if !strfmt.Default.ContainsName(name) {
			t.Errorf("%s: the server does not have this format", name)
		}
		found := x.all(textWant{match: []string{p}, max: -1})
		if len(found) == 0 {
			t.Errorf("%s: no samples", name)
		}
		for _, s := range found {
			if !strfmt.Default.Validates(name, s) {
				t.Errorf("%s: %q is none", name, s)
			}
		}
	}
}

func TestTextsAreAsWanted(t *testing.T) {
	t.Parallel()
	x := newTexts().forQuestion(nil)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		want textWant
		none bool
	}{
		{want: anyText()},
		{want: textWant{max: 0}},
		{want: textWant{min: 5, max: 5}},
		{want: textWant{min: 5000, max: -1}},
		{want: textWant{min: 2, max: 1}, none: true},
		{want: textWant{min: maxText + 1, max: -1}, none: true},
		{want: textWant{match: []string{`^[a-z]+$`, `x$`}, avoid: []string{`^a`}, min: 4, max: 8}},
		{want: textWant{match: []string{`^[a-z]+$`, `[0-9]`}, max: -1}, none: true},
		{want: textWant{match: []string{`^(\w+\.)+example$`}, avoid: []string{`^\w+\.example$`}, max: 63}},
		{want: textWant{match: []string{`(`}, max: -1}, none: true},
	} {
		s, ok := x.one(test.want, rng)
		if ok == test.none || ok && !x.has(test.want, s) {
			t.Errorf("%+v: %q %v", test.want, s, ok)
		}
	}
}
