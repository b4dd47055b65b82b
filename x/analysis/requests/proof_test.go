package requests_test

import (
	"strings"
	"testing"
)

func TestNeverFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		operations, expression, fields string
		proved                         bool
	}{
		{`[CREATE, UPDATE]`, "object.spec.size < 5", "", true},
		{`["*"]`, "object.spec.size < 5", "", false}, // object is null on DELETE
		{`["*"]`, "object == null || object.spec.size < 5", "", true},
		{`[DELETE]`, "oldObject.spec.size < 5", "", true},
		{`[CREATE]`, "!has(object.spec.mode) || object.spec.mode == 'a'", "", true},
		{`[CREATE]`, "object.spec.mode == 'a'", "", false},
		{`[CREATE]`, "!has(object.spec.mode) || variables.mode == 'a'", "  variables: [{name: mode, expression: object.spec.mode}]", true},
		{`[CREATE]`, "variables.mode == 'a'", "  variables: [{name: mode, expression: object.spec.mode}]", false},
		{`[CREATE]`, "object.spec.size / object.spec.size == 1", "", false},
		{`[CREATE]`, "!has(object.spec.ports) || object.spec.ports.all(p, has(p.port) && p.port > 1)", "", true},
		{`[CREATE]`, "request.operation == 'CREATE' && object.spec.size < 5", "", true},
		// Values that rules do not have, or have in another form.
		{`[CREATE]`, "object.metadata.labels.a == 'b'", "", false},
		{`[CREATE]`, "request.userInfo.username == 'a'", "", false},
		{`[CREATE]`, "object.spec.size < int(params.data.max)", "  paramKind: {apiVersion: v1, kind: ConfigMap}", false},
		{`[CREATE]`, "object.spec.size < 5", "  matchConditions: [{name: c, expression: object.spec.mode == 'a'}]", false},
		{`[CREATE]`, "object.spec.ratio + 0.5 < 1.0", "", false}, // whole numbers are ints
		{`[CREATE]`, "!has(object.spec.when) || object.spec.when < timestamp('2020-01-01T00:00:00Z')", "", false},
		{`[CREATE]`, "!has(object.spec.when) || object.spec.when < '2020'", "", true},
		{`[CREATE]`, "object.spec.a__dash__b == 1", "", false},
	} {
		f := finderOf(t, strings.Replace(crdText, "size: {type: integer", "ratio: {type: number}\n              when: {type: string, format: date-time}\n              a-b: {type: integer, default: 1}\n              size: {type: integer", 1),
			policyText(tt.operations, tt.expression, tt.fields), 0)
		got, err := f.NeverFails(f.Validations()[0])
		if err != nil || got != tt.proved {
			t.Errorf("%s %s: got %v, %v", tt.operations, tt.expression, got, err)
		}
	}
	nullable := finderOf(t, strings.Replace(crdText, "mode: {type: string", "mode: {nullable: true, type: string", 1), policyText(`[CREATE]`, "!has(object.spec.mode) || object.spec.mode == 'a'", ""), 0)
	if got, err := nullable.NeverFails(nullable.Validations()[0]); err != nil || got {
		t.Errorf("nullable: got %v, %v", got, err)
	}
}
