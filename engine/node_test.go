package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

const placesCRD = `{metadata: {name: ks.g}, spec: {group: g, names: {kind: K, plural: ks}, scope: Namespaced, versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
    hosts: {type: array, items: {type: object, properties: {name: {type: string}}}}, labels: {type: object, additionalProperties: {type: integer}}, any: {x-kubernetes-preserve-unknown-fields: true}}}}}}},
  {name: v1beta1, served: true, schema: {openAPIV3Schema: {type: object, properties: {old: {type: string}}}}}]}}`

func TestAt(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, placesCRD)
	tests := []struct{ version, path, want, decl, failure string }{
		{"", "", "", "object", ""},
		{"v1", "", "", "object", ""},
		{"", "spec.hosts", "spec.hosts", "list of object", ""},
		{"", ".spec.hosts[3].name", "spec.hosts[3].name", "string", ""},
		{"", "spec.hosts[*]", "spec.hosts[*]", "object", ""},
		{"", "spec.labels['a.b']", "spec.labels['a.b']", "integer", ""},
		{"", "spec.labels.a", "spec.labels.a", "integer", ""},
		{"", "spec.labels[*]", "spec.labels[*]", "integer", ""},
		{"", "spec.labels[80]", "spec.labels[80]", "integer", ""},
		{"", "spec.any", "spec.any", "hidden", ""},
		{"", "metadata.name", "metadata.name", "string", ""},
		{"v1beta1", "old", "old", "string", ""},
		{"v1beta1", "spec", "", "", `path "spec": no such field in object`},
		{"v2", "", "", "", `version "v2": the CRD has v1, v1beta1`},
		{"", "spec.hosts.name", "", "", `path "spec.hosts.name": no such field in list of object`},
		{"", "spec[0]", "", "", `path "spec[0]": not a list or map but object`},
		{"", "spec.any.x", "", "", `path "spec.any.x": no such field in hidden`},
		{"", "metadata.labels", "", "", `path "metadata.labels": no such field in object`},
		{"", "a[", "", "", `path "a[": at "[": unclosed bracket`},
	}
	for _, tt := range tests {
		n, err := e.At(tt.version, tt.path)
		if tt.failure != "" {
			if err == nil || err.Error() != tt.failure {
				t.Errorf("%q: got %v, want %q", tt.path, err, tt.failure)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.path, err)
			continue
		}
		version := tt.version
		if version == "" {
			version = "v1"
		}
		if n.Path != tt.want || n.Version != version || n.Decl.String() != tt.decl {
			t.Errorf("%q: got %q in %s, a %s, want %q, a %s", tt.path, n.Path, n.Version, n.Decl, tt.want, tt.decl)
		}
	}
}

func TestNodeCompile(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, placesCRD)
	tests := []struct {
		path, src, self, typ, value string
		column                      int
		failure                     string
	}{
		{path: "spec.hosts", src: "self.map(h, h.name)", self: `[{name: a}, {name: b}]`, typ: "list(string)", value: "[a b]"},
		{path: "spec.labels", src: "self.x + 1", self: `{x: 2}`, typ: "int", value: "3"},
		{path: "spec.hosts[0].name", src: "self == oldSelf", self: `a`, typ: "bool", failure: "no such attribute(s): oldSelf"},
		{path: "spec.labels", src: "self.x", self: `{}`, typ: "int", failure: "no such key: x"},
		{path: "spec", src: "self.zz", column: 5, failure: "spec: x-kubernetes-validations[0].rule: ERROR: <input>:1:5: undefined field 'zz'"},
		{path: "spec.any", src: "self", failure: "no CEL type"},
		{path: "spec", src: "", column: 1, failure: "Syntax error"},
		{path: "spec", src: "1 +\n", column: 1, failure: "Syntax error"},
		{path: "spec", src: "bool('x')", failure: "rule: program instantiation failed: "},
		{path: "spec", src: "dyn([1])[b'a'] == 1", failure: "rule: program instantiation failed: "},
	}
	for _, tt := range tests {
		n, err := e.At("", tt.path)
		if err != nil {
			t.Fatal(err)
		}
		x, err := n.Compile(tt.src)
		if tt.typ == "" {
			var bad *engine.CompileError
			if !asCompileError(err, &bad) || !strings.Contains(err.Error(), tt.failure) || bad.Part != "rule" || bad.Column != tt.column {
				t.Errorf("%s: got %#v, want %q", tt.src, err, tt.failure)
			}
			continue
		}
		if err != nil || x.Type != tt.typ || x.Source != tt.src {
			t.Errorf("%s: got %v, %v, want %s", tt.src, x, err, tt.typ)
			continue
		}
		if est := x.Estimate; est.Max == 0 || est.Min > est.Max {
			t.Errorf("%s: estimate %+v", tt.src, est)
		}
		out := x.Eval(t.Context(), value(t, tt.self), nil)
		if tt.failure != "" {
			if out.Err == nil || out.Err.Error() != tt.failure {
				t.Errorf("%s: got %+v, want %q", tt.src, out, tt.failure)
			}
			continue
		}
		if out.Err != nil || fmt.Sprint(out.Value) != tt.value || out.Cost == 0 {
			t.Errorf("%s: got %s, %+v, want %s", tt.src, out.Value, out, tt.value)
		}
	}
}

func TestEngineKubeVersion(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{"": types.Version{Minor: types.Newest}.String(), "1.30": "1.30", "v1.31.4": "1.31"} {
		e, err := engine.Compile(crd(t, placesCRD), engine.Config{KubeVersion: set})
		if err != nil || e.Info().KubeVersion != want {
			t.Errorf("%q: got %v, %v, want %s", set, e, err, want)
		}
	}
}
