package engine_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

const variable = `
type: object
required: [size]
properties:
  size: {type: integer, minimum: 1}
  limit: {type: integer, default: 3}
  zones: {type: array, x-kubernetes-list-type: set, items: {type: string}}
x-kubernetes-validations:
- rule: self.size <= self.limit
- rule: self.size >= oldSelf.size
  message: must not shrink
`

func compileSchema(t *testing.T, text string) (*engine.Schema, error) {
	t.Helper()
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.Unmarshal([]byte(text), props); err != nil {
		t.Fatal(err)
	}
	return engine.CompileSchema(props, engine.Config{})
}

func TestCompileSchema(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, schema, value, old string
		want                     []string // errors
		result, unknown          string
		path                     *field.Path
	}{
		{name: "accepted", schema: variable, value: `{"size": 2, "other": 1}`, result: `{"limit":3,"size":2}`, unknown: "other"},
		{name: "schema", schema: variable, value: `{"size": 0}`, want: []string{`size: Invalid value: 0: size in body should be greater than or equal to 1`}},
		{name: "rule", schema: variable, value: `{"size": 4}`, path: field.NewPath("spec").Index(1), want: []string{`spec[1]: Invalid value: failed rule: self.size <= self.limit`}},
		{name: "blocked", schema: variable, value: `{"limit": 1}`, path: field.NewPath("spec"), want: []string{`spec.size: Required value`}},
		{name: "list type", schema: variable, value: `{"size": 1, "zones": ["a", "a"]}`, path: field.NewPath("v"), want: []string{`v.zones[1]: Duplicate value: "a"`}},
		{name: "transition", schema: variable, value: `{"size": 1}`, old: `{"size": 2}`, want: []string{`<nil>: Invalid value: must not shrink`}},
		{name: "ratcheted", schema: variable, value: `{"size": 0}`, old: `{"size": 0}`, result: `{"limit":3,"size":0}`},
		{name: "scalar", schema: `{type: string, x-kubernetes-validations: [{rule: self == 'a'}]}`, value: `"b"`, path: field.NewPath("v"), want: []string{`v: Invalid value: "b": failed rule: self == 'a'`}},
		{name: "list", schema: `{type: array, x-kubernetes-list-type: set, items: {type: integer}}`, value: `[1, 1]`, want: []string{`[1]: Duplicate value: 1`}},
		{name: "embedded resource", schema: `{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true,
			x-kubernetes-validations: [{rule: self.metadata.name == self.kind, message: differ}]}`, value: `{"apiVersion": "v1", "kind": "A", "metadata": {"name": "b"}}`,
			want: []string{`<nil>: Invalid value: differ`}},
		{name: "null default", schema: `{type: string, default: x}`, value: `null`, result: `"x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(t, tt.schema)
			if err != nil {
				t.Fatal(err)
			}
			res, err := s.Validate(t.Context(), tt.path, schemaValue(t, tt.value), schemaValue(t, tt.old))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range res.Errors {
				got = append(got, e.Error())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got errors %q, want %q", got, tt.want)
			}
			if tt.result != "" && !reflect.DeepEqual(res.Value, schemaValue(t, tt.result)) {
				t.Errorf("got %v, want %s", res.Value, tt.result)
			}
			if unknown := strings.Join(res.Unknown, " "); unknown != tt.unknown {
				t.Errorf("got unknown fields %q, want %q", unknown, tt.unknown)
			}
		})
	}
}

func TestSchemaWithoutRatcheting(t *testing.T) {
	t.Parallel()
	three := 3.0
	props := &apiextensionsv1.JSONSchemaProps{Type: "integer", Maximum: &three}
	for cfg, want := range map[engine.Config]int{{}: 0, {NoRatcheting: true}: 1, {KubeVersion: "1.29"}: 1} {
		s, err := engine.CompileSchema(props, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := s.Validate(t.Context(), nil, int64(5), int64(5)); err != nil || len(res.Errors) != want {
			t.Errorf("%+v: got %+v, %v, want %d errors", cfg, res, err, want)
		}
	}
}

// The old value is pruned and defaulted like the new one, with and without ratcheting.
func TestSchemaDefaultsOld(t *testing.T) {
	t.Parallel()
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.Unmarshal([]byte(`{type: object, properties: {a: {type: integer, default: 1}}, x-kubernetes-validations: [{rule: self.a >= oldSelf.a}]}`), props); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []engine.Config{{}, {NoRatcheting: true}, {KubeVersion: "1.29"}} {
		s, err := engine.CompileSchema(props, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := s.Validate(t.Context(), nil, map[string]any{}, map[string]any{}); err != nil || len(res.Errors) > 0 {
			t.Errorf("%+v: got %+v, %v", cfg, res, err)
		}
	}
}

func schemaValue(t *testing.T, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	obj, err := engine.Decode([]byte(`{"v": ` + text + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return obj["v"]
}

func TestCompileSchemaErrors(t *testing.T) {
	t.Parallel()
	if s, err := engine.CompileSchema(nil, engine.Config{}); s != nil || err == nil {
		t.Errorf("no schema: got %v, %v", s, err)
	}
	if s, err := compileSchema(t, `{type: object, $ref: x}`); s != nil || err == nil || !strings.Contains(err.Error(), "structural") {
		t.Errorf("not structural: got %v, %v", s, err)
	}
	s, err := compileSchema(t, `{type: string, x-kubernetes-validations: [{rule: self.x}]}`)
	var invalid *engine.CompileErrors
	if s == nil || !errors.As(err, &invalid) {
		t.Errorf("invalid rule: got %v, %v", s, err)
	}
	if res, err := s.Validate(t.Context(), nil, struct{}{}, nil); err == nil {
		t.Errorf("a Go value: got %v", res)
	}
}

func TestCompileCRD(t *testing.T) {
	t.Parallel()
	crd := string(readFile(t, "../examples/crontab/crd.yaml"))
	if _, err := engine.CompileCRD([]byte("---\n# a comment\n"+crd+"\n---\n# nothing\n---\n"), engine.Config{}); err != nil {
		t.Errorf("with empty documents after it: %v", err)
	}
	for text, want := range map[string]string{
		"": "kind", "{": "CRD", "kind: Pod": "CustomResourceDefinition", "[]": "CRD",
		crd + "\n---\n" + crd: "several documents", crd + "\n...\n" + crd: "after the first", crd + "\n--- {}\n": "several documents", crd + "\n---\na: [": "after the first",
	} {
		if e, err := engine.CompileCRD([]byte(text), engine.Config{}); e != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want an error with %q", text, e, err, want)
		}
	}
}

type typedCronTab struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       json.RawMessage   `json:"spec"`
}

func TestValidateForms(t *testing.T) {
	t.Parallel()
	e, err := engine.CompileCRD([]byte(readFile(t, "../examples/crontab/crd.yaml")), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const object = "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata: {name: a, namespace: default}\nspec: {schedule: '* * * * *', image: i, replicas: %}\n"
	one, nine := strings.Replace(object, "%", "1", 1), strings.Replace(object, "%", "9999", 1)
	typed := func(replicas string) typedCronTab {
		return typedCronTab{Metadata: map[string]string{"name": "a"}, Spec: json.RawMessage(`{"schedule": "* * * * *", "image": "i", "replicas": ` + replicas + `}`)}
	}
	for name, validate := range map[string]func() (*engine.Result, error){
		"create": func() (*engine.Result, error) { return e.ValidateYAML(t.Context(), []byte(one), nil) },
		"update": func() (*engine.Result, error) { return e.ValidateYAML(t.Context(), []byte(one), []byte(one)) },
		"typed":  func() (*engine.Result, error) { return e.ValidateTyped(t.Context(), typed("1"), typed("1")) },
	} {
		if res, err := validate(); err != nil || !res.Allowed {
			t.Errorf("%s: got %+v, %v", name, res, err)
		}
	}
	if res, err := e.ValidateYAML(t.Context(), []byte(nine), nil); err != nil || res.Allowed {
		t.Errorf("invalid: got %+v, %v", res, err)
	}
	if res, err := e.ValidateTyped(t.Context(), typed("9999"), nil); err != nil || res.Allowed {
		t.Errorf("invalid and typed: got %+v, %v", res, err)
	}
	json := `{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": "a"}, "spec": {"schedule": "* * * * *", "image": "i"}}`
	if res, err := e.ValidateYAML(t.Context(), []byte(json+"\n"), []byte(one+"\n---\n")); err != nil || !res.Allowed {
		t.Errorf("JSON: got %+v, %v", res, err)
	}
	for _, bad := range [][2]string{{"{", ""}, {one, "{"}, {one, "[]"}, {one + "---\n" + nine, ""}, {one, one + "---\n" + one}, {json + json, ""}, {json + "\n" + json, ""}} {
		old := []byte(bad[1])
		if bad[1] == "" {
			old = nil
		}
		if res, err := e.ValidateYAML(t.Context(), []byte(bad[0]), old); err == nil {
			t.Errorf("%q: got %+v", bad, res)
		}
	}
}
