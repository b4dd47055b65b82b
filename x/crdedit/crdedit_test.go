package crdedit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/engine"
)

type edit func(*CRD, SchemaNode) ([]byte, error)

func add(rule string) edit {
	return func(c *CRD, at SchemaNode) ([]byte, error) { return c.AddRule(at, rule) }
}

func drop(index int) edit {
	return func(c *CRD, at SchemaNode) ([]byte, error) { return c.DropRule(at, index) }
}

func set(index int, part string, value any) edit {
	return func(c *CRD, at SchemaNode) ([]byte, error) { return c.SetPart(at, index, part, value) }
}

func unset(index int, part string) edit {
	return func(c *CRD, at SchemaNode) ([]byte, error) { return c.DropPart(at, index, part) }
}

// want is "" if the edit must be rejected.
var editCases = map[string]struct {
	node string
	edit edit
	want string
}{
	"first rule": {
		"x:\n  type: string # one\n\n# two\ny: 1\n", add("true"),
		"x:\n  type: string # one\n  x-kubernetes-validations:\n  - rule: \"true\"\n\n# two\ny: 1\n"},
	"another rule, indented list, no line break at the end": {
		"x:\n  x-kubernetes-validations:\n    - rule: a\n      message: |-\n        # not a comment\n\n        more", add("b: c"),
		"x:\n  x-kubernetes-validations:\n    - rule: a\n      message: |-\n        # not a comment\n\n        more\n    - rule: 'b: c'"},
	"windows line endings": {
		"x:\r\n  type: string\r\ny: 1\r\n", add("a"),
		"x:\r\n  type: string\r\n  x-kubernetes-validations:\r\n  - rule: a\r\ny: 1\r\n"},
	"flow": {
		"x: {type: string, x-kubernetes-validations: [{rule: \"a ] }\"}]} # c\n", add("b"),
		"x: {type: string, x-kubernetes-validations: [{rule: \"a ] }\"}, {rule: \"b\"}]} # c\n"},
	"empty list": {
		"x:\n  x-kubernetes-validations: []\n", add("b"),
		"x:\n  x-kubernetes-validations: [{rule: \"b\"}]\n"},
	"replace quoted": {
		"x:\n  x-kubernetes-validations:\n  - rule: 'it''s' # why\n    message: m\n", set(0, "rule", "it's new"),
		"x:\n  x-kubernetes-validations:\n  - rule: 'it''s new' # why\n    message: m\n"},
	"replace a block": {
		"x:\n  x-kubernetes-validations:\n  - rule: >-\n      a &&\n      b\n    message: m\n", set(0, "rule", "c"),
		"x:\n  x-kubernetes-validations:\n  - rule: c\n    message: m\n"},
	"replace plain over two lines": {
		"x:\n  x-kubernetes-validations:\n  - rule: a &&\n      b\n    message: m\n", set(0, "rule", "c &&\nd"),
		"x:\n  x-kubernetes-validations:\n  - rule: |-\n      c &&\n      d\n    message: m\n"},
	"remove the first key": {
		"x:\n  x-kubernetes-validations:\n  - message: m # c\n    rule: a\n", unset(0, "message"),
		"x:\n  x-kubernetes-validations:\n  - rule: a\n"},
	"drop the middle": {
		"x:\n  x-kubernetes-validations:\n  - rule: a\n  # about b\n  - rule: b\n    message: m\n  - rule: c\n", drop(1),
		"x:\n  x-kubernetes-validations:\n  - rule: a\n  # about b\n  - rule: c\n"},
	"drop the only": {
		"x:\n  x-kubernetes-validations:\n  - rule: a\n  type: string\n", drop(0),
		"x:\n  type: string\n"},
	"drop in flow": {
		"x: {x-kubernetes-validations: [{rule: a}, {rule: b}], type: string}\n", drop(1),
		"x: {x-kubernetes-validations: [{rule: a}], type: string}\n"},
	"plainly true": {
		"x:\n  x-kubernetes-validations:\n  - rule: a\n", set(0, "optionalOldSelf", true),
		"x:\n  x-kubernetes-validations:\n  - rule: a\n    optionalOldSelf: true\n"},
	"an anchor that others use": {"x: &a\n  type: string\ny: *a\n", add("b"), ""},
	"an alias":                  {"y: &a\n  type: string\nx: *a\n", add("b"), ""},
	"a merge":                   {"y: &a {type: string}\nx:\n  <<: *a\n", add("b"), "y: &a {type: string}\nx:\n  <<: *a\n  x-kubernetes-validations:\n  - rule: b\n"},
}

func TestRuleEdits(t *testing.T) {
	const above = "spec:\n  versions:\n  - schema:\n      openAPIV3Schema:\n        properties:\n"
	for name, c := range editCases {
		t.Run(name, func(t *testing.T) {
			pad := func(text string) string {
				return above + strings.TrimSuffix(strings.ReplaceAll("          "+strings.ReplaceAll(text, "\n", "\n          "), "          \n", "\n"), "          ")
			}
			crd, err := Parse([]byte(pad(c.node)), false, 0)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.edit(crd, SchemaNode{Steps: []engine.Step{{Name: "x"}}})
			if c.want == "" {
				if err == nil {
					t.Errorf("edited: %s", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(pad(c.want), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
