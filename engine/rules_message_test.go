package engine_test

import (
	"strings"
	"testing"
)

func TestRuleMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("m", 5120)
	runRuleCases(t, []ruleCase{
		{name: "message", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", message: " be positive\n "}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: be positive",
		}},
		{name: "message of spaces", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", message: "  "}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0",
		}},
		{name: "messageExpression", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", messageExpression: "'got ' + string(self) + ' '"}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: got 0",
		}},
		{name: "messageExpression before message", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", message: refused, messageExpression: "'got ' + string(self)"}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: got 0",
		}},
		{name: "rule is true", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", message: refused, messageExpression: "string(1 / self)"}]}`, obj: `1`},
		{name: "error", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", message: refused, messageExpression: "string(1 / self)"}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: refused",
		}},
		{name: "error without message", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", messageExpression: "string(1 / self)"}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: failed rule: self > 0",
		}},
		{name: "empty", schema: `{type: string, x-kubernetes-validations: [{rule: "self != ''", message: refused, messageExpression: "self"}]}`, obj: `""`, want: []string{
			`root: Invalid value: "": refused`,
		}},
		{name: "spaces", schema: `{type: string, x-kubernetes-validations: [{rule: "size(self) > 3", message: refused, messageExpression: "self"}]}`, obj: `"  "`, want: []string{
			`root: Invalid value: "  ": refused`,
		}},
		{name: "newline", schema: `{type: string, x-kubernetes-validations: [{rule: "size(self) > 3", message: refused, messageExpression: "self"}]}`, obj: `"a\nb"`, want: []string{
			`root: Invalid value: "a\nb": refused`,
		}},
		{name: "newline at the end", schema: `{type: string, x-kubernetes-validations: [{rule: "size(self) > 3", message: refused, messageExpression: "self"}]}`, obj: `"a\n"`, want: []string{
			`root: Invalid value: "a\n": a`,
		}},
		{name: "carriage return", schema: `{type: string, x-kubernetes-validations: [{rule: "size(self) > 3", message: refused, messageExpression: "self"}]}`, obj: `"a\rb"`, want: []string{
			"root: Invalid value: \"a\\rb\": a\rb",
		}},
		{name: "longest", schema: `{type: string, x-kubernetes-validations: [{rule: "size(self) > 9999", message: refused, messageExpression: "self"}]}`, obj: long, want: []string{`root: Invalid value: "` + long + `": ` + long}},
		{name: "too long", schema: `{type: string, x-kubernetes-validations: [{rule: "size(self) > 9999", message: refused, messageExpression: "self + 'm'"}]}`, obj: long, want: []string{`root: Invalid value: "` + long + `": refused`}},
		{name: "too long but for spaces", schema: `{type: string, x-kubernetes-validations: [{rule: "size(self) > 9999", message: refused, messageExpression: "self + ' '"}]}`, obj: long, want: []string{`root: Invalid value: "` + long + `": ` + long}},
		{name: "no such key", schema: `{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "has(self.a)", message: refused, messageExpression: "self.a"}]}`, obj: `{}`, want: []string{
			"root: Invalid value: refused",
		}},
		{name: "does not compile", broken: true, schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", message: refused, messageExpression: "bad("}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: refused",
		}},
		{name: "no string", broken: true, schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", message: refused, messageExpression: "self"}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: refused",
		}},
		{name: "dyn", broken: true, schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", message: refused, messageExpression: "dyn('a')"}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: refused",
		}},
		{name: "over the per-call limit", perCall: 50, stopped: true, schema: `{type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "size(self) == 0", message: refused, messageExpression: "self.map(x, string(x)).join(',')"}, {rule: "false"}]}`, obj: `[1, 2, 3, 4, 5, 6, 7, 8, 9]`, want: []string{
			`root: Invalid value: "array": no further validation rules will be run due to call cost exceeds limit for messageExpression: "self.map(x, string(x)).join(',')"`,
		}},
		{name: "over the budget", budget: 50, stopped: true, schema: `{type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "size(self) == 0", message: refused, messageExpression: "self.map(x, string(x)).join(',')"}, {rule: "false"}]}`, obj: `[1, 2, 3, 4, 5, 6, 7, 8, 9]`, want: []string{
			`root: Invalid value: "array": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "over both", budget: 50, perCall: 60, stopped: true, schema: `{type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "size(self) == 0", message: refused, reason: FieldValueRequired, messageExpression: "self.map(x, string(x)).join(',')"}]}`, obj: `[1, 2, 3, 4, 5, 6, 7, 8, 9]`, want: []string{
			`root: Invalid value: "array": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "over the budget where ratcheted", budget: 50, stopped: true, schema: `{type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "size(self) == 0", messageExpression: "self.map(x, string(x)).join(',')"}, {rule: "false"}]}`, obj: `[1, 2, 3, 4, 5, 6, 7, 8, 9]`, old: `[1, 2, 3, 4, 5, 6, 7, 8, 9]`, warnings: []string{
			`root: Invalid value: "array": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "oldSelf in the message alone", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 5", message: refused, messageExpression: "'was ' + string(oldSelf)"}]}`, obj: `0`, old: `1`, want: []string{
			"root: Invalid value: 0: refused",
		}},
		{name: "oldSelf in the message, and in a neighbour", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 5", message: refused, messageExpression: "'was ' + string(oldSelf)"}, {rule: "oldSelf != 7"}]}`, obj: `0`, old: `1`, want: []string{
			"root: Invalid value: 0: was 1",
		}},
		{name: "oldSelf in the message on create", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 5", message: refused, messageExpression: "'was ' + string(oldSelf)"}, {rule: "oldSelf != 7"}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: refused",
		}},
		{name: "optional oldSelf in the message", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 5 && oldSelf.hasValue()", optionalOldSelf: true, message: refused, messageExpression: "'was ' + string(oldSelf.orValue(9))"}]}`, obj: `0`, old: `1`, want: []string{
			"root: Invalid value: 0: refused",
		}},
		{name: "optional oldSelf in the message on create", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 5 || oldSelf.hasValue()", optionalOldSelf: true, message: refused, messageExpression: "'was ' + string(oldSelf.orValue(9))"}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: refused",
		}},
	})
}

func TestRuleReasons(t *testing.T) {
	t.Parallel()
	runRuleCases(t, []ruleCase{
		{name: "FieldValueInvalid", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", reason: FieldValueInvalid}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: failed rule: self > 0",
		}},
		{name: "FieldValueForbidden", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", reason: FieldValueForbidden, message: refused}]}`, obj: `0`, want: []string{
			"root: Forbidden: refused",
		}},
		{name: "FieldValueRequired", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", reason: FieldValueRequired, messageExpression: "'x'"}]}`, obj: `0`, want: []string{
			"root: Required value: x",
		}},
		{name: "FieldValueDuplicate", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", reason: FieldValueDuplicate, message: refused}]}`, obj: `0`, want: []string{
			"root: Duplicate value: 0",
		}},
		{name: "other", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", reason: Thing, message: refused}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: refused",
		}},
		{name: "on an object", schema: `{type: object, x-kubernetes-validations: [{rule: "size(dyn(self)) > 0", reason: FieldValueInvalid}, {rule: "false", reason: FieldValueForbidden}, {rule: "false", reason: FieldValueRequired}, {rule: "false", reason: FieldValueDuplicate}]}`, obj: `{}`, want: []string{
			"root: Duplicate value",
			"root: Forbidden: failed rule: false",
			"root: Invalid value: failed rule: size(dyn(self)) > 0",
			"root: Required value: failed rule: false",
		}},
		{name: "run-time error", schema: `{type: integer, x-kubernetes-validations: [{rule: "1 / self > 0", reason: FieldValueRequired, fieldPath: ".a"}]}`, obj: `0`, broken: true, want: []string{
			`root: Invalid value: "integer": division by zero evaluating rule: 1 / self > 0`,
		}},
	})
}

func TestRuleFieldPaths(t *testing.T) {
	t.Parallel()
	const properties = `properties: {a: {type: string}, m: {type: object, additionalProperties: {type: object, properties: {x: {type: string}}}}, "b.c": {type: object, properties: {d: {type: string}}}, l: {type: array, items: {type: string}}, any: {type: object, additionalProperties: true}, "it's": {type: string}}`
	path := func(path string) string {
		return `{type: object, ` + properties + `, x-kubernetes-validations: [{rule: "false", fieldPath: "` + path + `"}]}`
	}
	runRuleCases(t, []ruleCase{
		{name: "field", schema: path(`.a`), obj: `{}`, want: []string{
			"root.a: Invalid value: failed rule: false",
		}},
		{name: "field in brackets", schema: path(`['a']`), obj: `{}`, want: []string{
			"root.a: Invalid value: failed rule: false",
		}},
		{name: "map value", schema: path(`.m.k`), obj: `{}`, want: []string{
			"root.m[k]: Invalid value: failed rule: false",
		}},
		{name: "map value in brackets", schema: path(`.m['k.l'].x`), obj: `{}`, want: []string{
			"root.m[k.l].x: Invalid value: failed rule: false",
		}},
		{name: "dotted field", schema: path(`['b.c'].d`), obj: `{}`, want: []string{
			"root.b.c.d: Invalid value: failed rule: false",
		}},
		{name: "quote", schema: path(`['it\\'s']`), obj: `{}`, want: []string{
			"root.it's: Invalid value: failed rule: false",
		}},
		{name: "no dot", schema: path(`a`), obj: `{}`, broken: true, want: []string{
			"root: Invalid value: failed rule: false",
		}},
		{name: "no such field", schema: path(`.z`), obj: `{}`, broken: true, want: []string{
			"root: Invalid value: failed rule: false",
		}},
		{name: "list", schema: path(`.l[0]`), obj: `{}`, broken: true, want: []string{
			"root: Invalid value: failed rule: false",
		}},
		{name: "below a scalar", schema: path(`.a.b`), obj: `{}`, broken: true, want: []string{
			"root: Invalid value: failed rule: false",
		}},
		{name: "end", schema: path(`.a.`), obj: `{}`, broken: true, want: []string{
			"root: Invalid value: failed rule: false",
		}},
		{name: "open bracket", schema: path(`['a'`), obj: `{}`, broken: true, want: []string{
			"root: Invalid value: failed rule: false",
		}},
		{name: "with a reason", schema: `{type: object, ` + properties + `, x-kubernetes-validations: [{rule: "false", fieldPath: ".a", reason: FieldValueRequired, message: refused}]}`, obj: `{}`, want: []string{
			"root.a: Required value: refused",
		}},
		{name: "with a run-time error", schema: `{type: object, ` + properties + `, x-kubernetes-validations: [{rule: "self.a == ''", fieldPath: ".a"}]}`, obj: `{}`, want: []string{
			`root: Invalid value: "object": no such key: a evaluating rule: self.a == ''`,
		}},
		{name: "in items", schema: `{type: array, items: {type: object, ` + properties + `, x-kubernetes-validations: [{rule: "false", fieldPath: ".m['a b']"}]}}`, obj: `[{}, {}]`, want: []string{
			"root[0].m[a b]: Invalid value: failed rule: false",
			"root[1].m[a b]: Invalid value: failed rule: false",
		}},
	})
}
