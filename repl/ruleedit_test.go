package repl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/engine"
)

// editCases are texts of a schema node called x with an edit, and the node after
// it; "" is a text that must be left for a person.
var editCases = map[string]struct {
	node string
	edit ruleEdit
	want string
}{
	"first rule": {
		"x:\n  type: string # one\n\n# two\ny: 1\n", ruleEdit{op: addRule, value: "true"},
		"x:\n  type: string # one\n  x-kubernetes-validations:\n  - rule: \"true\"\n\n# two\ny: 1\n"},
	"another rule, indented list, no line break at the end": {
		"x:\n  x-kubernetes-validations:\n    - rule: a\n      message: |-\n        # not a comment\n\n        more", ruleEdit{op: addRule, index: 1, value: "b: c"},
		"x:\n  x-kubernetes-validations:\n    - rule: a\n      message: |-\n        # not a comment\n\n        more\n    - rule: 'b: c'"},
	"windows line ends": {
		"x:\r\n  type: string\r\ny: 1\r\n", ruleEdit{op: addRule, value: "a"},
		"x:\r\n  type: string\r\n  x-kubernetes-validations:\r\n  - rule: a\r\ny: 1\r\n"},
	"flow": {
		"x: {type: string, x-kubernetes-validations: [{rule: \"a ] }\"}]} # c\n", ruleEdit{op: addRule, index: 1, value: "b"},
		"x: {type: string, x-kubernetes-validations: [{rule: \"a ] }\"}, {rule: \"b\"}]} # c\n"},
	"empty list": {
		"x:\n  x-kubernetes-validations: []\n", ruleEdit{op: addRule, value: "b"},
		"x:\n  x-kubernetes-validations: [{rule: \"b\"}]\n"},
	"replace quoted": {
		"x:\n  x-kubernetes-validations:\n  - rule: 'it''s' # why\n    message: m\n", ruleEdit{op: setField, field: "rule", value: "it's new"},
		"x:\n  x-kubernetes-validations:\n  - rule: 'it''s new' # why\n    message: m\n"},
	"replace a block": {
		"x:\n  x-kubernetes-validations:\n  - rule: >-\n      a &&\n      b\n    message: m\n", ruleEdit{op: setField, field: "rule", value: "c"},
		"x:\n  x-kubernetes-validations:\n  - rule: c\n    message: m\n"},
	"replace plain over two lines": {
		"x:\n  x-kubernetes-validations:\n  - rule: a &&\n      b\n    message: m\n", ruleEdit{op: setField, field: "rule", value: "c &&\nd"},
		"x:\n  x-kubernetes-validations:\n  - rule: |-\n      c &&\n      d\n    message: m\n"},
	"remove the first key": {
		"x:\n  x-kubernetes-validations:\n  - message: m # c\n    rule: a\n", ruleEdit{op: dropField, field: "message"},
		"x:\n  x-kubernetes-validations:\n  - rule: a\n"},
	"drop the middle": {
		"x:\n  x-kubernetes-validations:\n  - rule: a\n  # about b\n  - rule: b\n    message: m\n  - rule: c\n", ruleEdit{op: dropRule, index: 1},
		"x:\n  x-kubernetes-validations:\n  - rule: a\n  # about b\n  - rule: c\n"},
	"drop the only": {
		"x:\n  x-kubernetes-validations:\n  - rule: a\n  type: string\n", ruleEdit{op: dropRule},
		"x:\n  type: string\n"},
	"drop in flow": {
		"x: {x-kubernetes-validations: [{rule: a}, {rule: b}], type: string}\n", ruleEdit{op: dropRule, index: 1},
		"x: {x-kubernetes-validations: [{rule: a}], type: string}\n"},
	"plainly true": {
		"x:\n  x-kubernetes-validations:\n  - rule: a\n", ruleEdit{op: setField, field: "optionalOldSelf", value: "true"},
		"x:\n  x-kubernetes-validations:\n  - rule: a\n    optionalOldSelf: true\n"},
	"an anchor that others use": {"x: &a\n  type: string\ny: *a\n", ruleEdit{op: addRule, value: "b"}, ""},
	"an alias":                  {"y: &a\n  type: string\nx: *a\n", ruleEdit{op: addRule, value: "b"}, ""},
	"a merge":                   {"y: &a {type: string}\nx:\n  <<: *a\n", ruleEdit{op: addRule, value: "b"}, "y: &a {type: string}\nx:\n  <<: *a\n  x-kubernetes-validations:\n  - rule: b\n"},
}

func TestRuleEdits(t *testing.T) {
	const above = "spec:\n  versions:\n  - schema:\n      openAPIV3Schema:\n        properties:\n"
	for name, c := range editCases {
		t.Run(name, func(t *testing.T) {
			pad := func(text string) string {
				return above + strings.TrimSuffix(strings.ReplaceAll("          "+strings.ReplaceAll(text, "\n", "\n          "), "          \n", "\n"), "          ")
			}
			doc, err := Document{File: "f"}.convert([]byte(pad(c.node)))
			if err != nil {
				t.Fatal(err)
			}
			c.edit.steps = []engine.Step{{Name: "x"}}
			got, err := c.edit.apply(doc)
			if c.want == "" {
				if err == nil {
					t.Errorf("edited: %s", got.Text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(pad(c.want), string(got.Text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
