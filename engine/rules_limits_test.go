package engine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

const ints = `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]`

func TestRuleErrors(t *testing.T) {
	t.Parallel()
	runRuleCases(t, []ruleCase{
		{name: "no such key", schema: `{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == ''"}]}`, obj: `{}`, want: []string{
			`root: Invalid value: "object": no such key: a evaluating rule: self.a == ''`,
		}},
		{name: "no such map key", schema: `{type: object, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: "self['a'] == ''"}]}`, obj: `{}`, want: []string{
			`root: Invalid value: "object": no such key: a evaluating rule: self['a'] == ''`,
		}},
		{name: "null field", schema: `{type: object, properties: {a: {type: string, nullable: true}}, x-kubernetes-validations: [{rule: "self.a == ''"}]}`, obj: `{a: null}`, want: []string{
			`root: Invalid value: "object": no such key: a evaluating rule: self.a == ''`,
		}},
		{name: "index", schema: `{type: array, items: {type: string}, x-kubernetes-validations: [{rule: "self[1] == ''"}, {rule: "self[-1] == ''"}]}`, obj: `[a]`, want: []string{
			`root: Invalid value: "array": index out of bounds: -1 evaluating rule: self[-1] == ''`,
			`root: Invalid value: "array": index out of bounds: 1 evaluating rule: self[1] == ''`,
		}},
		{name: "overflow", schema: `{type: integer, x-kubernetes-validations: [{rule: "self + 1 > 0"}, {rule: "self * 2 > 0"}, {rule: "-(self + 0) - 2 < 0"}]}`, obj: `9223372036854775807`, want: []string{
			`root: Invalid value: "integer": integer overflow evaluating rule: -(self + 0) - 2 < 0`,
			`root: Invalid value: "integer": integer overflow evaluating rule: self * 2 > 0`,
			`root: Invalid value: "integer": integer overflow evaluating rule: self + 1 > 0`,
		}},
		{name: "division", schema: `{type: integer, x-kubernetes-validations: [{rule: "1 / self > 0"}, {rule: "1 % self > 0", message: "  see  "}]}`, obj: `0`, want: []string{
			`root: Invalid value: "integer": division by zero evaluating rule: 1 / self > 0`,
			`root: Invalid value: "integer": modulus by zero evaluating rule: see`,
		}},
		{name: "conversion", schema: `{type: string, x-kubernetes-validations: [{rule: "int(self) > 0"}, {rule: "duration(self) > duration('1s')"}, {rule: "quantity(self).isInteger()"}, {rule: "ip(self).isLoopback()"}, {rule: "self.matches(self)"}]}`, obj: `"(x"`, want: []string{
			`root: Invalid value: "string": IP Address "(x" parse error during conversion from string: ParseAddr("(x"): unable to parse IP evaluating rule: ip(self).isLoopback()`,
			"root: Invalid value: \"string\": error parsing regexp: missing closing ): `(x` evaluating rule: self.matches(self)",
			`root: Invalid value: "string": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' evaluating rule: quantity(self).isInteger()`,
			`root: Invalid value: "string": type conversion error from 'string' to 'google.protobuf.Duration' evaluating rule: duration(self) > duration('1s')`,
			`root: Invalid value: "string": type conversion error from 'string' to 'int' evaluating rule: int(self) > 0`,
		}},
		{name: "error and true", schema: `{type: integer, x-kubernetes-validations: [{rule: "1 / self > 0 || self == 0"}, {rule: "1 / self > 0 && self != 0"}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: failed rule: 1 / self > 0 && self != 0",
		}},
		{name: "rules go on", schema: `{type: integer, x-kubernetes-validations: [{rule: "1 / self > 0"}, {rule: "self > 0"}, {rule: "1 / self > 0"}]}`, obj: `0`, want: []string{
			`root: Invalid value: "integer": division by zero evaluating rule: 1 / self > 0`,
			`root: Invalid value: "integer": division by zero evaluating rule: 1 / self > 0`,
			"root: Invalid value: 0: failed rule: self > 0",
		}},
		{name: "not ratcheted", schema: `{type: integer, x-kubernetes-validations: [{rule: "1 / self > 0"}, {rule: "self > 0"}]}`, obj: `0`, old: `0`, want: []string{
			`root: Invalid value: "integer": division by zero evaluating rule: 1 / self > 0`,
		}, warnings: []string{
			"root: Invalid value: 0: failed rule: self > 0",
		}},
		{name: "no overload", schema: `{type: object, properties: {io: {x-kubernetes-int-or-string: true}}, x-kubernetes-validations: [{rule: "self.io + 1 > 0", message: m}, {rule: "size(self.io) > 9"}]}`, obj: `{io: "5"}`, want: []string{
			`root: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: m`,
			"root: Invalid value: failed rule: size(self.io) > 9",
		}},
		{name: "double integer", schema: `{type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: "self.a > 0"}, {rule: "has(self.a)"}]}`, obj: `{a: 1.5}`, want: []string{
			`root: Invalid value: "object": invalid data, expected int, got float64 evaluating rule: has(self.a)`,
			`root: Invalid value: "object": invalid data, expected int, got float64 evaluating rule: self.a > 0`,
		}},
	})
}

func TestRuleLimits(t *testing.T) {
	t.Parallel()
	const all = `{type: array, items: {type: integer, x-kubernetes-validations: [{rule: "self < 20"}]}, x-kubernetes-validations: [{rule: "self.all(x, x > 0)"}, {rule: "false", message: "  after "}]}`
	runRuleCases(t, []ruleCase{
		{name: "within", schema: all, obj: ints, want: []string{
			"root: Invalid value: after",
			"root[19]: Invalid value: 20: failed rule: self < 20",
		}},
		{name: "per call", perCall: 30, stopped: true, schema: all, obj: ints, want: []string{
			`root: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.all(x, x > 0)`,
		}},
		{name: "per call, message", perCall: 30, stopped: true, schema: `{type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "self.all(x, x > 0)", message: " m "}]}`, obj: ints, want: []string{
			`root: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: m`,
		}},
		{name: "per call, one less", perCall: 101, stopped: true, schema: `{type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "self.all(x, x > 0)"}]}`, obj: ints, want: []string{
			`root: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.all(x, x > 0)`,
		}},
		{name: "per call, exactly", perCall: 102, schema: `{type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "self.all(x, x > 0)"}]}`, obj: ints},
		{name: "per call, in a message that is not needed", perCall: 30, schema: `{type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "size(self) > 0", messageExpression: "self.map(x, string(x)).join()"}]}`, obj: ints},
		{name: "budget of nothing", budget: -1, stopped: true, schema: all, obj: ints, want: []string{
			`root: Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "budget of one", budget: 1, stopped: true, schema: all, obj: ints, want: []string{
			`root: Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "budget in the first rule", budget: 50, stopped: true, schema: all, obj: ints, want: []string{
			`root: Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "budget between rules", budget: 122, stopped: true, schema: all, obj: ints, want: []string{
			"root: Invalid value: after",
			`root[10]: Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "budget just enough", budget: 2, schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}`, obj: `1`},
		{name: "budget just enough, then another", budget: 2, stopped: true, schema: `{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}, b: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}}}`, obj: `{a: 1, b: 1}`, want: []string{
			`root.b: Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "budget just enough, then a rule that is empty", budget: 2, stopped: true, schema: `{type: object, properties: {a: {type: object, additionalProperties: {type: string, x-kubernetes-validations: [{rule: ""}]}, x-kubernetes-validations: [{rule: "size(self) > 0"}]}}}`, obj: `{a: {x: ""}}`, want: []string{
			`root.a: Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "budget just enough, then a transition rule", budget: 2, stopped: true, schema: `{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}, b: {type: integer, x-kubernetes-validations: [{rule: "self > oldSelf"}]}}}`, obj: `{a: 1, b: 1}`, want: []string{
			`root.b: Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "budget just enough, then transition rules below", budget: 2, stopped: true, schema: `{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}, b: {type: object, properties: {l: {type: array, items: {type: object, additionalProperties: {type: integer, x-kubernetes-validations: [{rule: "self > oldSelf"}]}}}}}}}`, obj: `{a: 1, b: {l: [{x: 1}]}}`, want: []string{
			`root.b.l[0][x]: Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "budget just enough, and transition rules before", budget: 2, schema: `{type: object, properties: {a: {type: array, items: {type: integer, x-kubernetes-validations: [{rule: "self > oldSelf"}]}}, b: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}}}`, obj: `{a: [1], b: 1}`},
		{name: "budget of nothing, for nothing", budget: -1, stopped: true, schema: `{type: object, properties: {a: {type: object, properties: {b: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}}}}}`, obj: `{a: {}}`},
		{name: "budget just enough, then no rules", budget: 2, schema: `{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}}}`, obj: `{a: 1}`},
		{name: "budget just enough, then hidden", budget: 1, broken: true, schema: `{type: array, items: {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "true"}]}, x-kubernetes-validations: []}`, obj: `[1, 2]`, want: []string{
			`root[0]: Invalid value: "": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
			`root[1]: Invalid value: "": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
		}},
		{name: "budget at another node, sorted", budget: 5, stopped: true, schema: `{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}, {rule: "self > 2"}]}, b: {type: integer, x-kubernetes-validations: [{rule: "self > 1"}, {rule: "self > 2"}]}}}`, obj: `{a: 1, b: 1}`, want: []string{
			"root.a: Invalid value: 1: failed rule: self > 2",
			`root.b: Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run`,
		}},
		{name: "budget under allOf", budget: 3, stopped: true, schema: `{type: integer, allOf: [{x-kubernetes-validations: [{rule: "self > 0"}]}, {x-kubernetes-validations: [{rule: "self > 1"}]}], x-kubernetes-validations: [{rule: "self > 2"}]}`, obj: `1`, want: []string{
			`root: Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run`,
			"root: Invalid value: 1: failed rule: self > 2",
		}},
		{name: "error at the limit", perCall: 10, stopped: true, schema: `{type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "self.map(x, x).map(x, x)[99] > 0", reason: FieldValueRequired, fieldPath: ".a"}]}`, obj: ints, broken: true, want: []string{
			`root: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.map(x, x).map(x, x)[99] > 0`,
		}},
	})
}

// Upstream runs rules under allOf only if there is a rule elsewhere.
func TestRulesUnderAllOf(t *testing.T) {
	t.Parallel()
	runRuleCases(t, []ruleCase{
		{name: "alone", schema: `{type: integer, allOf: [{x-kubernetes-validations: [{rule: "false"}]}]}`, obj: `1`},
		{name: "with another rule", schema: `{type: integer, x-kubernetes-validations: [{rule: "true"}], allOf: [{x-kubernetes-validations: [{rule: "self > 1"}]}, {}, {x-kubernetes-validations: [{rule: "self > 2"}]}]}`, obj: `1`, want: []string{
			"root: Invalid value: 1: failed rule: self > 1",
			"root: Invalid value: 1: failed rule: self > 2",
		}},
		{name: "a rule elsewhere", schema: `{type: object, properties: {a: {type: integer, allOf: [{x-kubernetes-validations: [{rule: "self > 1"}]}]}, b: {type: string, x-kubernetes-validations: [{rule: "true"}]}}}`, obj: `{a: 1}`, want: []string{
			"root.a: Invalid value: 1: failed rule: self > 1",
		}},
		{name: "an empty rule elsewhere", schema: `{type: object, x-kubernetes-validations: [{rule: ""}], properties: {a: {type: integer, allOf: [{x-kubernetes-validations: [{rule: "self > 1"}]}]}}}`, obj: `{a: 1}`, want: []string{
			"root.a: Invalid value: 1: failed rule: self > 1",
		}},
		{name: "nested properties", schema: `{type: object, properties: {a: {type: object, properties: {b: {type: integer}}}}, x-kubernetes-validations: [{rule: "true"}], allOf: [{properties: {a: {x-kubernetes-validations: [{rule: "self.b > 1"}], properties: {b: {x-kubernetes-validations: [{rule: "self > 2"}]}, unheard: {x-kubernetes-validations: [{rule: "self > 2"}]}}}}}]}`, obj: `{a: {b: 1, unheard: 1}}`, want: []string{
			"root.a.b: Invalid value: 1: failed rule: self > 2",
			"root.a: Invalid value: failed rule: self.b > 1",
		}},
		{name: "nested items and values", schema: `{type: object, properties: {l: {type: array, items: {type: integer}}, m: {type: object, additionalProperties: {type: integer}}}, x-kubernetes-validations: [{rule: "true"}], allOf: [{properties: {l: {items: {x-kubernetes-validations: [{rule: "self > 1"}]}}, m: {additionalProperties: {x-kubernetes-validations: [{rule: "self > 1"}]}}}}]}`, obj: `{l: [1, 2], m: {a: 1, b: 2}}`, want: []string{
			"root.l[0]: Invalid value: 1: failed rule: self > 1",
			"root.m[a]: Invalid value: 1: failed rule: self > 1",
		}},
		{name: "allOf of allOf", schema: `{type: integer, x-kubernetes-validations: [{rule: "true"}], allOf: [{allOf: [{x-kubernetes-validations: [{rule: "self > 1"}]}]}]}`, obj: `1`, want: []string{
			"root: Invalid value: 1: failed rule: self > 1",
		}},
		{name: "anyOf and not", schema: `{type: integer, x-kubernetes-validations: [{rule: "true"}], anyOf: [{x-kubernetes-validations: [{rule: "self > 1"}]}], oneOf: [{x-kubernetes-validations: [{rule: "self > 1"}]}], not: {x-kubernetes-validations: [{rule: "self > 1"}]}}`, obj: `1`},
		{name: "does not compile", broken: true, schema: `{type: integer, x-kubernetes-validations: [{rule: "true"}], allOf: [{x-kubernetes-validations: [{rule: "self.x > 1"}]}]}`, obj: `1`, want: []string{
			"root: Invalid value: \"integer\": rule compile error: compilation failed: ERROR: <input>:1:5: type 'int' does not support field selection\n | self.x > 1\n | ....^",
		}},
		{name: "at a root", root: true, schema: `{type: object, x-kubernetes-validations: [{rule: "true"}], allOf: [{x-kubernetes-validations: [{rule: "self.metadata.name == 'x'"}]}]}`, obj: `{metadata: {name: b}}`, want: []string{
			"root: Invalid value: failed rule: self.metadata.name == 'x'",
		}},
		{name: "transition", schema: `{type: integer, x-kubernetes-validations: [{rule: "true"}], allOf: [{x-kubernetes-validations: [{rule: "self > oldSelf", message: grow}]}]}`, obj: `1`, old: `2`, want: []string{
			"root: Invalid value: 1: grow",
		}},
		{name: "in map list items", schema: `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: {type: integer}}}, x-kubernetes-validations: [{rule: "true"}], allOf: [{items: {properties: {v: {x-kubernetes-validations: [{rule: "self > oldSelf"}]}}}}]}`, obj: `[{k: a, v: 1}, {k: b, v: 2}]`, old: `[{k: b, v: 2}, {k: a, v: 0}]`, want: []string{
			"root[1].v: Invalid value: 2: failed rule: self > oldSelf",
		}},
		{name: "unknown at the node", broken: true, schema: `{x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "true"}], allOf: [{x-kubernetes-validations: [{rule: "true"}]}]}`, obj: `1`, want: []string{
			`root: Invalid value: "": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
			`root: Invalid value: "": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
		}},
	})
}

func TestCostOverflow(t *testing.T) {
	t.Parallel()
	e := mustCompile(t, strings.Replace(tracked, "[{rule: self == oldSelf}]", `[{rule: "self == self"}, {rule: "[dyn(1)].flatten(dyn(9223372036854775807)).size() > 0"}]`, 1))
	res, err := e.Validate(t.Context(), engine.Request{Object: object(t, `{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: a, namespace: d}}`)})
	if err != nil || res.Allowed || res.Cost != math.MaxInt64 {
		t.Fatal(res, err)
	}
}
