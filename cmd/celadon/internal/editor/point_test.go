package editor_test

import (
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/editor"
	"github.com/celadon-cel/celadon/x/assist"
)

func TestPoint(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ field, message, want string }{
		{"spec", `Invalid value: "object": replicas must not exceed maxReplicas`, "replicas must not exceed maxReplicas"},
		{"spec", `Invalid value: {"a":"b: c","d":[1]}: a must be d`, "a must be d"},
		{"spec", `Invalid value: [1,2]: too short`, "too short"},
		{"spec", `Invalid value: replicas is 11, more than 10: at most 10`, "replicas is 11, more than 10: at most 10"},
		{"spec.replicas", `Invalid value: -3: spec.replicas in body should be greater than or equal to 1`, "spec.replicas in body should be greater than or equal to 1"},
		{"spec.replicas", `Invalid value: "a\"b: c": spec.replicas in body must be of type integer: "string"`, `spec.replicas in body must be of type integer: "string"`},
		{"spec.hosts[0]", `Invalid value: null: must be a string`, "must be a string"},
		{"spec.hosts[0]", `Invalid value: 5`, "Invalid value: 5"},
		{"spec.hosts[0]", `Invalid value: {"a": …: must be b`, `{"a": …: must be b`},
		{"spec.schedule", `Required value`, "missing schedule"},
		{"spec.hosts[0]", `Required value`, "missing value"},
		{"spec.labels[app]", `Required value`, "missing app"},
		{"metadata.labels[app.kubernetes.io/name]", `Required value`, "missing app.kubernetes.io/name"},
		{"spec.containers[0].image", `Required value`, "missing image"},
		{"spec", `Required value: give a schedule`, "give a schedule"},
		{"spec.policy", `Unsupported value: "Forbidd": supported values: "Allow", "Forbid"`, `unsupported value "Forbidd", did you mean "Forbid"?`},
		{"spec.policy", `Unsupported value: "x": supported values: "Allow", "Forbid"`, `unsupported value "x"; supported values: "Allow", "Forbid"`},
		{"spec.policy", `Unsupported value: 3: supported values: "1", "2"`, `unsupported value 3; supported values: "1", "2"`},
		{"spec", `Forbidden: estimated rule cost exceeds budget by factor of 2x`, "estimated rule cost exceeds budget by factor of 2x"},
		{"spec.rule", "Invalid value: \"self.a\": compilation failed: ERROR: <input>:1:5: undefined field 'a'\n | self.a\n | ....^", "undefined field 'a'"},
		{"spec.rule", `Invalid value: {"rule":"a"}: compilation failed: ERROR: <input>:1:1: undeclared reference to 'a' (in container '')`, "undeclared reference to 'a'"},
		{"spec", `Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:6: undefined field 'a'`, "a rule does not compile: undefined field 'a'"},
		{"", "compilation failed: ERROR: <input>:1:23: Syntax error: mismatched input '<EOF>'\n | a", "Syntax error: mismatched input '<EOF>'"},
		{"spec.hosts", `Too many: 5: must have at most 3 items`, "Too many: 5: must have at most 3 items"},
		{"", `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: at most 3`, "at most 3"},
		{"", `Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': at most 3`, "at most 3"},
		{"", `something else`, "something else"},
		{"", ``, ""},
	} {
		if got := editor.Point(tt.field, tt.message); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.message, got, tt.want)
		}
	}
}

func TestStrictPoint(t *testing.T) {
	t.Parallel()
	const text = `CronTab in version "v1" cannot be handled as a CronTab: strict decoding error: unknown field "spec.replcas", duplicate field "spec.image"` + "\nspec.replcas: did you mean replicas?"
	for _, tt := range []struct{ text, field, hint, want string }{
		{text, "spec.replcas", "did you mean replicas?", "unknown field replcas, did you mean replicas?"},
		{text, "spec.image", "", "duplicate field image"},
		{text, "", "", "unknown field replcas"},
		{`strict decoding error: yaml: line 3: key "a" already set in map`, "a", "", `yaml: line 3: key "a" already set in map`},
		{"spec: Required value", "spec", "", ""},
	} {
		if got, ok := editor.StrictPoint(tt.text, tt.field, tt.hint); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: got %q", tt.field, got)
		}
	}
}

func TestCompilePoint(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]assist.Problem{
		"unknown field a, did you mean b?":           {Message: "undefined field 'a'", Advice: assist.Advice{Names: []string{"b"}}},
		"unknown field a, did you mean b or c or d?": {Message: "undefined field 'a'", Advice: assist.Advice{Names: []string{"b", "c", "d"}}},
		"Syntax error; use == to compare":            {Message: "Syntax error", Advice: assist.Advice{Words: "use == to compare"}},
		"unknown name slef; use self":                {Message: "undeclared reference to 'slef' (in container '')", Advice: assist.Advice{Words: "use self"}},
		"the rule must return a boolean":             {Message: "the rule must return a boolean"},
	} {
		if got := editor.CompilePoint(&p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
