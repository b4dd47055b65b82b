package input

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestDuplicateWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: 1\na: 2\n":                         `line 2: key "a" already set in map`,
		"1: 1\n0x1: 2\n":                       `line 2: key 1 already set in map`,
		"yes: 1\ntrue: 2\n":                    `line 2: key true already set in map`,
		"'1': 1\n1: 2\na: 1\na:\n  b: 1\n":     `line 5: key "a" already set in map`,
		"a: {b: 1, b: 2}\na: &x\n  b: 1\n":     `line 1: key "b" already set in map` + "\n  " + `line 2: key "a" already set in map`,
		"n:: 1\nn:: 2\n":                       `line 2: key "n:" already set in map`,
		"? [a]\n: 1\nb: 1\nb: 2\n":             "",
		"a: &m {x: 1}\nb: {<<: *m, x: 2}\n":    "",
		"~: 1\nnull: 2\n":                      "",
		"- {a: 1, a: 2}\n":                     "",
		strings.Repeat("a: 1\n", 3) + "b: 1\n": `line 2: key "a" already set in map` + "\n  " + `line 3: key "a" already set in map`,
	} {
		s := splitter{file: "f", w: bytesWindow([]byte(text)), yield: func(c Chunk) bool {
			return c.Each(func(d *Document) bool {
				got := ""
				if d.Duplicate != nil {
					got = strings.TrimPrefix(d.Duplicate.Error(), "yaml: unmarshal errors:\n  ")
				}
				if got != want {
					t.Errorf("%q: %q, want %q", text, got, want)
				}
				return true
			})
		}}
		s.run()
	}
}

func TestDuplicateError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a: 1\na: 2\n", "a: {b: 1, b: 2}\na: 3\nc: 4\nc: 5\n", "# comment\n\na:\n- {x: 1, x: 2}\n- {y: 1, y: 2}\n"} {
		_, want := yaml.YAMLToJSONStrict([]byte(text))
		SplitText("f", []byte(text), func(c Chunk) bool {
			return c.Each(func(d *Document) bool {
				if d.Duplicate == nil || d.Duplicate.Error() != want.Error() {
					t.Errorf("%q: %v, want %v", text, d.Duplicate, want)
				}
				return true
			})
		})
	}
}
