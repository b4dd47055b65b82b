package assist_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/assist"
)

func placeIn(t testing.TB, file, path string) *assist.Context {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return placeOf(t, data, path)
}

func placeOf(t testing.TB, data []byte, path string) *assist.Context {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, crd); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Compile(crd, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	v := &crd.Spec.Versions[0]
	p, err := assist.NewContext(e, v.Schema.OpenAPIV3Schema, v.Name, path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func cursor(line string) (src string, at int) {
	before, after, _ := strings.Cut(line, "|>")
	return before + after, len([]rune(before))
}

func TestHover(t *testing.T) {
	p := placeIn(t, "../../examples/crontab/crd.yaml", "")
	for line, want := range map[string]string{
		"self.spec.repl|>icas == 3":                             "self.spec.replicas: integer | minimum 0; default 1 | estimate 3 | the whole: estimate 3, <0.1% of the limit @spec.replicas",
		"se|>lf.spec == self.spec":                              "self: object | estimate 1 | the whole: estimate 4, <0.1% of the limit @",
		"self.spec.env.all(|>e, e.name != '')":                  "e: object | estimate 0 to 32 | the whole: estimate 4 to 164, <0.1% of the limit @spec.env[*]",
		"self.spec.env.all(e, e.na|>me != '')":                  "e.name: string | maxLength 64 | estimate 0 to 64 | the whole: estimate 4 to 164, <0.1% of the limit @spec.env[*].name",
		"self.spec.env.al|>l(e, e.name != '')":                  "self.spec.env.all(): boolean | self.all(x, expression) (macro)  (1.28 or before) | self.all(i, x, expression) (macro)  (since 1.33) | Returns true if the condition holds for every item of a list or key of a map, also for an empty list or map. With two variables, the first is the index or key, and the second is the value. | e.g. [1, 2, 3].all(x, x > 0)  // true, cost 16 | e.g. {'a': 1}.all(k, v, v > 0)  // true, cost 6 | estimate 4 to 164 | the whole: estimate 4 to 164, <0.1% of the limit @",
		"self.spec.image.starts|>With('a')":                     "self.spec.image.startsWith(): boolean | (string).startsWith(string) -> boolean  (1.28 or before) | Returns true if the string begins with the argument, also if the argument is empty. It costs less than matches with a pattern that starts with ^. | e.g. 'registry.example.com/app'.startsWith('registry.')  // true, cost 1 | estimate 4 | the whole: estimate 4, <0.1% of the limit @",
		"has(self.spec.ima|>ge)":                                "self.spec.image: string | maxLength 256 | estimate 3 | the whole: estimate 2, <0.1% of the limit @spec.image",
		"has(self.|>":                                           "",
		"self.spec.?image.optMap(i, i|>.size()).orValue(0) > 1": "i: string | maxLength 256 | estimate 1 | the whole: estimate 7 to 23, <0.1% of the limit @spec.image",
		"self.spec.replicas |>== 3":                             "==: boolean | estimate 3 | the whole: estimate 3, <0.1% of the limit @",
		"quan|>tity('1').isGreaterThan(":                        "quantity(): quantity | quantity(string) -> quantity  (since 1.29) | Converts a string such as 500m, 1.5, or 10Gi to a quantity. An invalid string is an error: test it with isQuantity first. Compare quantities with isLessThan, isGreaterThan, or compareTo, because comparing their strings compares letters. | e.g. quantity('1Gi').isGreaterThan(quantity('500Mi'))  // true, cost 3 | e.g. quantity('1Gi') == quantity('1024Mi')  // true, cost 3 | estimate 1 @",
	} {
		src, at := cursor(line)
		h := p.Hover(src, at)
		got := ""
		if h != nil {
			got = strings.Join(h.Lines(), " | ") + " @" + h.Path
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestCall(t *testing.T) {
	p := placeIn(t, "../../examples/crontab/crd.yaml", "")
	for line, want := range map[string]string{
		"self.spec.image.substring(1, |>": "substring at 16: (string).substring(integer, integer) -> string of 2, argument 1, integer",
		"self.spec.env.map(e, |>":         "map at 14: self.map(x, expression) (macro) of 2, argument 1, expression",
		"size(|>":                         "size at 0: size(bytes) -> integer of 4, argument 0, bytes",
		"has(self.|>":                     "has at 0: has(a.b) of 1, argument 0, a.b",
		"[1].exists(x, (x |>":             "exists at 4: self.exists(x, expression) (macro) of 2, argument 1, expression",
		"sets.contains([1], |>":           "sets.contains at 0: sets.contains(list of anything, list of anything) -> boolean of 1, argument 1, list of anything",
		"self.metadata.name.split('|>')":  "split at 19: (string).split(string) -> list of string of 2, argument 0, string",
		"self.spec.size(|>":               "",
		"nope(|>":                         "",
		"x in (|>":                        "",
		"[1, 2|>]":                        "",
	} {
		src, at := cursor(line)
		got := ""
		if c := p.Call(src, at); c != nil {
			form := c.Function.Forms[c.Form]
			got = fmt.Sprintf("%s at %d: %s of %d, argument %d", c.Name, c.Start, form.Signature, len(c.Function.Forms), c.Argument)
			if c.Argument < len(form.Parameters) {
				of := form.Parameters[c.Argument]
				got += ", " + form.Signature[of.Start:of.End]
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestPlaceAtOnce(t *testing.T) {
	t.Parallel()
	p := placeIn(t, "../../examples/crontab/crd.yaml", "spec")
	p.Part = assist.Rule
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			const src = "self.env.all(e, e.name != '') && size(self.image) > 1"
			at := i * 7
			p.CompleteAt(src, at)
			p.Hover(src, at)
			p.Call(src, at)
			p.Problems(src[:at])
		})
	}
	all.Wait()
}
