package lsp

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

// The cursor is at |.
func TestWordAt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"spec:\n  ima|":                                       "key ima of spec",
		"spec:\n  ima|ge: x\n  replicas: 1":                   "key ima of spec besides replicas",
		"spec:\n  |\n  replicas: 1\n":                         "key  of spec besides replicas",
		"spec:\n  replicas: 1\n|":                             "key  of the root besides spec",
		"spec:\n  ports:\n  - name: a\n    po|\n  - b: 1":     "key po of spec.ports[0] besides name",
		"spec:\n  ports:\n    - |":                            "key  of spec.ports[0]",
		"spec:\n  state: Act|\n":                              "value Act of spec.state",
		"spec:\n  state: |":                                   "value  of spec.state",
		"spec:\n  a: [1\n  state: Act|\nb: {":                 "value Act of spec.state", // the rest is not valid
		"spec:\n  state:|":                                    "nothing",
		"spec:\n  -|":                                         "nothing",
		"spec:\n  text: |\n    one wo|rd":                     "nothing",
		"spec:\n  text: \"a: b|\"":                            "nothing",
		"# comm|ent":                                          "nothing",
		"spec:\n  labels:\n    a: b\n    c|\nstatus:\n  d: 1": "key c of spec.labels besides a",
	} {
		offset := strings.LastIndex(text, "|")
		plain := text[:offset] + text[offset+1:]
		got := "nothing"
		if w := wordAt([]byte(plain), offset); w != nil {
			got = map[bool]string{true: "value ", false: "key "}[w.value] + plain[w.from:offset] + " of "
			if got += engine.FormatPath(w.steps); len(w.steps) == 0 {
				got += "the root"
			}
			for _, name := range []string{"spec", "replicas", "name", "a"} {
				if w.otherKeys[name] {
					got += " besides " + name
				}
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
