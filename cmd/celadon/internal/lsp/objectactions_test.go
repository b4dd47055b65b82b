package lsp

import (
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/lsp/protocol"
)

var signs = definition("Sign", `colour: {type: string, enum: [red, green, "no"]}
size: {type: integer}
labels: {type: object, additionalProperties: {type: string}}
kept: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {size: {type: integer}}}
rows: {type: array, items: {type: object, properties: {text: {type: string}}}}`)

func TestObjectActions(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: example.com/v1\nkind: Sign\nmetadata: {name: a}\n"
	for name, c := range map[string]struct{ text, about, want string }{
		"a name":           {head + "spec:\n  siez: 3 # three\n  colour: red\n", "unknown field", head + "spec:\n  size: 3 # three\n  colour: red\n"},
		"at the root":      {head + "sepc: {size: 3}\n", "unknown field", head + "spec: {size: 3}\n"},
		"in single quotes": {head + "spec:\n  'siez': 3\n", "unknown field", head + "spec:\n  size: 3\n"},
		"in an item":       {head + "spec:\n  rows:\n  - text: a\n  - {txet: '😀'}\n", "unknown field", head + "spec:\n  rows:\n  - text: a\n  - {text: '😀'}\n"},
		"in JSON":          {`{"apiVersion": "example.com/v1", "kind": "Sign", "metadata": {"name": "a"}, "spec": {"siez": 3}}`, "unknown field", `{"apiVersion": "example.com/v1", "kind": "Sign", "metadata": {"name": "a"}, "spec": {"size": 3}}`},
		"a value":          {head + "spec:\n  colour: gren # as grass\n", "Unsupported value", head + "spec:\n  colour: green # as grass\n"},
		"a value in words": {head + "spec: {colour: \"nо\", size: 3}\n", "Unsupported value", head + "spec: {colour: \"no\", size: 3}\n"},
		"a plain value":    {head + "spec:\n  colour: noo\n", "Unsupported value", head + "spec:\n  colour: \"no\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, ends := range []string{"\n", "\r\n"} {
				e := start(t, nil, map[string]string{"crd.yaml": signs})
				text := strings.ReplaceAll(c.text, "\n", ends)
				said := e.until("a.yaml", e.open("a.yaml", text), 1)
				i := slices.IndexFunc(said, func(d protocol.Diagnostic) bool { return strings.Contains(d.Message, c.about) })
				if i < 0 {
					t.Fatalf("%q is not reported: %v", c.about, messages(said))
				}
				actions := e.actionsAt("a.yaml", said[i].Range)
				if len(actions) == 0 || !actions[0].IsPreferred {
					t.Fatalf("no action for %v: %+v", messages(said), actions)
				}
				after := applied(t, text, e.uri("a.yaml"), actions[0])
				if want := strings.ReplaceAll(c.want, "\n", ends); after != want {
					t.Errorf("%s makes\n%s\nwant\n%s", actions[0].Title, after, want)
				}
				wantLines(t, e.change("a.yaml", protocol.Change{Text: after}))
			}
		})
	}
	for name, c := range map[string]struct{ text, at string }{
		"a name like none":     {head + "spec:\n  quantity: 3\n", "quantity"},
		"a name that is there": {head + "spec:\n  size: 3\n  siez: 3\n", "siez"},
		"a key of a map":       {head + "spec: {labels: {siez: a, b: 3}}\n", "siez"},
		"a field that is kept": {head + "spec: {kept: {siez: 3, size: a}}\n", "siez"},
		"a value that can be":  {head + "spec: {colour: red, siez: 3}\n", "red"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t, nil, map[string]string{"crd.yaml": signs})
			e.until("a.yaml", e.open("a.yaml", c.text), 1)
			at := strings.Index(c.text, c.at)
			if actions := e.actionsAt("a.yaml", newText(c.text).rangeOf(at, at+1)); len(actions) > 0 {
				t.Errorf("%+v", actions)
			}
		})
	}
}
