package engine_test

import (
	"errors"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

type badRule struct {
	path         string
	index        int
	rule, part   string
	line, column int
	snippet      string
	detail       string // a substring
}

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema string
		want         []badRule
	}{
		{name: "none", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}`},
		{name: "syntax", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0"}, {rule: "self > "}]}`,
			want: []badRule{{index: 1, rule: "self > ", part: "rule", line: 1, column: 8, snippet: "self > \n       ^", detail: "compilation failed: ERROR: <input>:1:8: Syntax error: mismatched input '<EOF>'"}}},
		{name: "type", schema: `{type: object, properties: {a-b: {type: array, items: {type: string, x-kubernetes-validations: [{rule: "self > 0"}]}}}}`,
			want: []badRule{{path: "a-b[*]", rule: "self > 0", part: "rule", line: 1, column: 6, snippet: "self > 0\n     ^", detail: "found no matching overload for '_>_' applied to '(string, int)'"}}},
		{name: "second line", schema: `{type: object, additionalProperties: {type: string, x-kubernetes-validations: [{rule: "self == ''\n\t&& self.x\n|| true"}]}}`,
			want: []badRule{{path: "[*]", rule: "self == ''\n\t&& self.x\n|| true", part: "rule", line: 2, column: 9, snippet: " && self.x\n        ^", detail: "type 'string' does not support field selection"}}},
		{name: "no bool", schema: `{type: integer, x-kubernetes-validations: [{rule: "self"}]}`,
			want: []badRule{{rule: "self", part: "rule", detail: "cel expression must evaluate to a bool"}}},
		{name: "dyn", schema: `{x-kubernetes-int-or-string: true, x-kubernetes-validations: [{rule: "self"}]}`,
			want: []badRule{{rule: "self", part: "rule", detail: "cel expression must evaluate to a bool"}}},
		{name: "messageExpression", schema: `{type: integer, x-kubernetes-validations: [{rule: "true", messageExpression: "'a' + self"}]}`,
			want: []badRule{{rule: "true", part: "messageExpression", line: 1, column: 5, snippet: "'a' + self\n    ^", detail: "messageExpression compilation failed: ERROR: <input>:1:5: found no matching overload"}}},
		{name: "no string", schema: `{type: integer, x-kubernetes-validations: [{rule: "true", messageExpression: "self"}]}`,
			want: []badRule{{rule: "true", part: "messageExpression", detail: "messageExpression must evaluate to a string"}}},
		{name: "fieldPath", schema: `{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "true", fieldPath: ".b"}]}`,
			want: []badRule{{rule: "true", part: "fieldPath", detail: "does not refer to a valid field"}}},
		{name: "fieldPath through anything", schema: `{type: object, additionalProperties: true, x-kubernetes-validations: [{rule: "true", fieldPath: ".b.c"}]}`,
			want: []badRule{{rule: "true", part: "fieldPath", detail: "does not refer to a valid field"}}},
		{name: "no more of a bad rule", schema: `{type: object, x-kubernetes-validations: [{rule: "bad(", messageExpression: "bad(", fieldPath: bad}]}`,
			want: []badRule{{rule: "bad(", part: "rule", line: 1, column: 5, snippet: "bad(\n    ^", detail: "Syntax error"}}},
		{name: "nodes by name", schema: `{type: object, properties: {z: {type: string, x-kubernetes-validations: [{rule: "1"}]}, b: {type: object, properties: {c: {type: string, x-kubernetes-validations: [{rule: "2"}]}}, x-kubernetes-validations: [{rule: "3"}]}}, x-kubernetes-validations: [{rule: "true"}, {rule: "4"}, {rule: "5"}]}`,
			want: []badRule{
				{index: 1, rule: "4", part: "rule", detail: "bool"}, {index: 2, rule: "5", part: "rule", detail: "bool"},
				{path: "b", rule: "3", part: "rule", detail: "bool"}, {path: "b.c", rule: "2", part: "rule", detail: "bool"}, {path: "z", rule: "1", part: "rule", detail: "bool"},
			}},
		{name: "hidden", schema: `{type: array, items: {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "true"}]}}`,
			want: []badRule{{path: "[*]", rule: "true", part: "rule", detail: "failed to convert to declType for CEL validation rules"}}},
		{name: "hidden among others", schema: `{type: array, items: {type: array, items: {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "true"}, {rule: "1"}]}, x-kubernetes-validations: [{rule: "2"}]}, x-kubernetes-validations: [{rule: "3"}]}`,
			want: []badRule{
				{rule: "3", part: "rule", detail: "declType"}, {path: "[*]", rule: "2", part: "rule", detail: "declType"},
				{path: "[*][*]", rule: "true", part: "rule", detail: "declType"}, {path: "[*][*]", index: 1, rule: "1", part: "rule", detail: "declType"},
			}},
		{name: "hidden before others", schema: `{type: object, properties: {"9": {type: array, items: {x-kubernetes-preserve-unknown-fields: true}}, a: {type: object, items: {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "true"}]}}, b: {type: string, x-kubernetes-validations: [{rule: "2"}]}}, x-kubernetes-validations: [{rule: "3"}]}`,
			want: []badRule{{rule: "3", part: "rule", detail: "bool"}, {path: "a[*]", rule: "true", part: "rule", detail: "declType"}, {path: "b", rule: "2", part: "rule", detail: "bool"}}},
		{name: "wide letters", schema: `{type: string, x-kubernetes-validations: [{rule: "self == 'öü' && x"}]}`,
			want: []badRule{{rule: "self == 'öü' && x", part: "rule", line: 1, column: 17, snippet: "self == 'öü' && x\n                ^", detail: "undeclared reference to 'x'"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rules, err := engine.CompileRules(structural(t, tt.schema), engine.Config{Subtree: true})
			if rules == nil {
				t.Fatalf("no rules: %v", err)
			}
			checkCompileErrors(t, err, "", tt.want)
		})
	}
}

func checkCompileErrors(t *testing.T, err error, version string, want []badRule) {
	t.Helper()
	var all *engine.CompileErrors
	if !errors.As(err, &all) {
		if len(want) > 0 || err != nil {
			t.Fatalf("got %v, want %d errors", err, len(want))
		}
		return
	}
	if len(all.Errors) != len(want) {
		t.Fatalf("got %d errors, want %d: %v", len(all.Errors), len(want), err)
	}
	for i, w := range want {
		got := all.Errors[i]
		found := badRule{path: got.Path, index: got.Index, rule: got.Rule, part: got.Part, line: got.Line, column: got.Column, snippet: got.Snippet, detail: w.detail}
		if found != w || got.Version != version {
			t.Errorf("%d: got %+v in %q\nwant %+v", i, found, got.Version, w)
		}
		if !strings.Contains(got.Detail, w.detail) || !strings.Contains(err.Error(), got.Error()) {
			t.Errorf("%d: got %q, want a part %q", i, got.Detail, w.detail)
		}
	}
	var one *engine.CompileError
	if !errors.As(err, &one) || one != all.Errors[0] {
		t.Errorf("errors.As finds %v", one)
	}
}

func TestCompileErrorText(t *testing.T) {
	t.Parallel()
	e := &engine.CompileError{RuleRef: engine.RuleRef{Version: "v1", Path: "spec.a", Index: 2, Rule: "x"}, Part: "rule", Detail: "compilation failed: ERROR: <input>:1:5: something: odd\n | x\n | ^"}
	if got, want := e.Error(), "v1: spec.a: x-kubernetes-validations[2].rule: "+e.Detail; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := e.Summary(), "something: odd"; got != want {
		t.Errorf("summary: got %q, want %q", got, want)
	}
	root := &engine.CompileError{Part: "fieldPath", Detail: "does not refer to a valid field"}
	if got, want := root.Error(), "schema root: x-kubernetes-validations[0].fieldPath: does not refer to a valid field"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := root.Summary(); got != root.Detail {
		t.Errorf("summary: got %q", got)
	}
}

func TestCompileFails(t *testing.T) {
	t.Parallel()
	version := func(schema string) string {
		return `{metadata: {name: ks.g}, spec: {group: g, names: {kind: K, plural: ks}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: ` + schema + `}}]}}`
	}
	tests := []struct {
		name, crd, want string
		cfg             engine.Config
	}{
		{name: "no versions", crd: `{metadata: {name: ks.g}, spec: {group: g}}`, want: "ks.g: spec.versions: no storage version"},
		{name: "no schema", crd: `{metadata: {name: ks.g}, spec: {versions: [{name: v1, storage: true}]}}`, want: "ks.g: spec.versions[0] (v1): no schema: want schema.openAPIV3Schema"},
		{name: "no structural schema", crd: version(`{type: object, patternProperties: {a: {type: string}}}`), want: "ks.g: spec.versions[0] (v1): schema is not structural: "},
		{name: "no root type", crd: version(`{}`), want: ""},
		{name: "no such version", crd: version(`{type: object}`), cfg: engine.Config{KubeVersion: "1.20"}, want: `kubernetes version "1.20" is not supported: want 1.28 to 1.38`},
		{name: "bad version", crd: version(`{type: object}`), cfg: engine.Config{KubeVersion: "new"}, want: `kubernetes version "new"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := engine.Compile(crd(t, tt.crd), tt.cfg)
			if tt.want == "" {
				if e == nil || err != nil {
					t.Fatalf("got %v, %v", e, err)
				}
				return
			}
			if e != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if e, err := engine.Compile(nil, engine.Config{}); e != nil || err == nil {
		t.Errorf("no CRD: got %v, %v", e, err)
	}
	if r, err := engine.CompileRules(nil, engine.Config{}); r != nil || err == nil {
		t.Errorf("no schema: got %v, %v", r, err)
	}
	if r, err := engine.CompileRules(structural(t, `{type: object}`), engine.Config{KubeVersion: "x"}); r != nil || err == nil {
		t.Errorf("no version: got %v, %v", r, err)
	}
}

func crd(t testing.TB, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		t.Fatalf("CRD: %v\n%s", err, text)
	}
	return crd
}

func TestCompileVersions(t *testing.T) {
	t.Parallel()
	s := structural(t, `{type: string, x-kubernetes-validations: [{rule: "ip.isCanonical(self)"}]}`)
	tests := []struct {
		cfg  engine.Config
		want bool
	}{
		{engine.Config{}, true},
		{engine.Config{Expressions: engine.New}, true},
		{engine.Config{KubeVersion: "1.31", Expressions: engine.New}, true},
		{engine.Config{KubeVersion: "1.30", Expressions: engine.New}, false},
		{engine.Config{KubeVersion: "1.30"}, true},
		{engine.Config{KubeVersion: "1.29"}, false},
		{engine.Config{KubeVersion: "v1.37.2"}, true},
	}
	for _, tt := range tests {
		tt.cfg.Subtree = true
		if _, err := engine.CompileRules(s, tt.cfg); (err == nil) != tt.want {
			t.Errorf("%s %s: got %v, want %t", tt.cfg.KubeVersion, tt.cfg.Expressions, err, tt.want)
		}
	}
}

func TestCompileShared(t *testing.T) {
	t.Parallel()
	const node = `{type: object, properties: {v: {type: string}}, x-kubernetes-validations: [{rule: "self.w == ''"}, {rule: "self.v == oldSelf.w", optionalOldSelf: false}]}`
	s := structural(t, `{type: object, properties: {a: `+node+`, b: {type: array, items: `+node+`}, "9": `+node+`}}`)
	_, err := engine.CompileRules(s, engine.Config{})
	var want []badRule
	for _, path := range []string{"9", "a", "b[*]"} {
		want = append(want,
			badRule{path: path, rule: "self.w == ''", part: "rule", line: 1, column: 5, snippet: "self.w == ''\n    ^", detail: "undefined field 'w'"},
			badRule{path: path, index: 1, rule: "self.v == oldSelf.w", part: "rule", line: 1, column: 18, snippet: "self.v == oldSelf.w\n                 ^", detail: "undefined field 'w'"})
	}
	checkCompileErrors(t, err, "", want)
}
