package engine_test

import "testing"

func TestRuleNodes(t *testing.T) {
	t.Parallel()
	runRuleCases(t, []ruleCase{
		{name: "no rules", schema: `{type: object}`, obj: `{a: 1}`},
		{name: "true", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}`, obj: `5`},
		{name: "string", schema: `{type: string, x-kubernetes-validations: [{rule: "self == 'a'"}]}`, obj: `b`, want: []string{
			`root: Invalid value: "b": failed rule: self == 'a'`,
		}},
		{name: "integer", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: failed rule: self > 0",
		}},
		{name: "integer that is a float", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}`, obj: `1.5`, want: []string{
			`root: Invalid value: "integer": invalid data, expected int, got float64 evaluating rule: self > 0`,
		}},
		{name: "number", schema: `{type: number, x-kubernetes-validations: [{rule: "self > 0.5"}]}`, obj: `0`, want: []string{
			"root: Invalid value: 0: failed rule: self > 0.5",
		}},
		{name: "boolean", schema: `{type: boolean, x-kubernetes-validations: [{rule: "self"}]}`, obj: `false`, want: []string{
			"root: Invalid value: false: failed rule: self",
		}},
		{name: "byte", schema: `{type: string, format: byte, x-kubernetes-validations: [{rule: "self == b'x'"}]}`, obj: `YQ==`, want: []string{
			`root: Invalid value: "YQ==": failed rule: self == b'x'`,
		}},
		{name: "byte, bad", schema: `{type: string, format: byte, x-kubernetes-validations: [{rule: "self == b'x'"}]}`, obj: `"="`, want: []string{
			`root: Invalid value: "string": Invalid byte formatted string =: illegal base64 data at input byte 0 evaluating rule: self == b'x'`,
		}},
		{name: "duration", schema: `{type: string, format: duration, x-kubernetes-validations: [{rule: "self < duration('1h')"}]}`, obj: `2h`, want: []string{
			`root: Invalid value: "2h": failed rule: self < duration('1h')`,
		}},
		{name: "duration, bad", schema: `{type: string, format: duration, x-kubernetes-validations: [{rule: "self < duration('1h')"}]}`, obj: `x`, want: []string{
			`root: Invalid value: "string": Invalid duration x: unable to parse x as duration evaluating rule: self < duration('1h')`,
		}},
		{name: "date", schema: `{type: string, format: date, x-kubernetes-validations: [{rule: "self < timestamp('2000-01-01T00:00:00Z')"}]}`, obj: `2024-01-01`, want: []string{
			`root: Invalid value: "2024-01-01": failed rule: self < timestamp('2000-01-01T00:00:00Z')`,
		}},
		{name: "date-time, bad", schema: `{type: string, format: date-time, x-kubernetes-validations: [{rule: "self < timestamp('2000-01-01T00:00:00Z')"}]}`, obj: `2024-01-01x`, want: []string{
			`root: Invalid value: "string": Invalid date-time formatted string 2024-01-01x: parsing time "2024-01-01x" as "2006-01-02T15:04:05": cannot parse "x" as "T" evaluating rule: self < timestamp('2000-01-01T00:00:00Z')`,
		}},
		{name: "object", schema: `{type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: "self.a > 0"}]}`, obj: `{a: 0}`, want: []string{
			"root: Invalid value: failed rule: self.a > 0",
		}},
		{name: "object of the wrong type", schema: `{type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: "self.a > 0"}]}`, obj: `[1]`, want: []string{
			`root: Invalid value: "object": invalid data, expected a map for the provided schema with type=object evaluating rule: self.a > 0`,
		}},
		{name: "map", schema: `{type: object, additionalProperties: {type: integer}, x-kubernetes-validations: [{rule: "size(self) < 2"}]}`, obj: `{a: 0, b: 1}`, want: []string{
			"root: Invalid value: failed rule: size(self) < 2",
		}},
		{name: "map values", schema: `{type: object, additionalProperties: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}}`, obj: `{a: 0, b: 1, "c.d": -1, n: null}`, want: []string{
			"root[a]: Invalid value: 0: failed rule: self > 0",
			"root[c.d]: Invalid value: -1: failed rule: self > 0",
		}},
		{name: "map with the fields of a resource", schema: `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: "self['kind'] == 'L'"}, {rule: "self['metadata'] == 'x'"}, {rule: "has(self.metadata) && self.other == 'o'"}, {rule: "self['a.b'] == 'c'"}]}}}`, obj: `{e: {apiVersion: v1, kind: K, metadata: {name: n}, other: p, a.b: c}}`, want: []string{
			`root.e: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self['metadata'] == 'x'`,
			`root.e: Invalid value: "object": no such key: a.b evaluating rule: self['a.b'] == 'c'`,
			`root.e: Invalid value: "object": no such key: other evaluating rule: has(self.metadata) && self.other == 'o'`,
			`root.e: Invalid value: failed rule: self['kind'] == 'L'`,
		}},
		{name: "list", schema: `{type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "size(self) < 2"}]}`, obj: `[1, 2]`, want: []string{
			"root: Invalid value: failed rule: size(self) < 2",
		}},
		{name: "list items", schema: `{type: array, items: {type: integer, x-kubernetes-validations: [{rule: "self > 0"}]}}`, obj: `[1, 0, -1, null]`, want: []string{
			"root[1]: Invalid value: 0: failed rule: self > 0",
			"root[2]: Invalid value: -1: failed rule: self > 0",
		}},
		{name: "items of items", schema: `{type: array, items: {type: array, items: {type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: "self != 'x'"}]}}}}}`, obj: `[[{a: x}], [{a: b}, {a: x}], []]`, want: []string{
			`root[0][0].a: Invalid value: "x": failed rule: self != 'x'`,
			`root[1][1].a: Invalid value: "x": failed rule: self != 'x'`,
		}},
		{name: "nullable", schema: `{type: string, nullable: true, x-kubernetes-validations: [{rule: "self != 'a'"}]}`, obj: `null`},
		{name: "nullable with a value", schema: `{type: string, nullable: true, x-kubernetes-validations: [{rule: "self != 'a'"}]}`, obj: `a`, want: []string{
			`root: Invalid value: "a": failed rule: self != 'a'`,
		}},
		{name: "nullable items", schema: `{type: array, items: {type: string, nullable: true, x-kubernetes-validations: [{rule: "self != 'a'"}]}, x-kubernetes-validations: [{rule: "self.all(x, dyn(x) != null)"}]}`, obj: `[null, a]`, want: []string{
			"root: Invalid value: failed rule: self.all(x, dyn(x) != null)",
			`root[1]: Invalid value: "a": failed rule: self != 'a'`,
		}},
		{name: "null field", schema: `{type: object, properties: {a: {type: string, nullable: true, x-kubernetes-validations: [{rule: "false"}]}}, x-kubernetes-validations: [{rule: "has(self.a)"}]}`, obj: `{a: null}`, want: []string{
			"root: Invalid value: failed rule: has(self.a)",
		}},
		{name: "null where it may not be", schema: `{type: array, items: {type: string}, x-kubernetes-validations: [{rule: "self.all(x, x != 'a')"}]}`, obj: `[null]`, want: []string{
			`root: Invalid value: "array": invalid data, got null for schema with nullable=false evaluating rule: self.all(x, x != 'a')`,
		}},
		{name: "int-or-string items", schema: `{type: array, items: {x-kubernetes-int-or-string: true, x-kubernetes-validations: [{rule: "type(self) == int ? self < 5 : self.endsWith('%')"}]}}`, obj: `[1, 7, "7", "7%", 1.5]`, want: []string{
			"root[1]: Invalid value: 7: failed rule: type(self) == int ? self < 5 : self.endsWith('%')",
			`root[2]: Invalid value: "7": failed rule: type(self) == int ? self < 5 : self.endsWith('%')`,
			`root[4]: Invalid value: "": invalid data, expected XIntOrString value to be either a string or integer evaluating rule: type(self) == int ? self < 5 : self.endsWith('%')`,
		}},
		{name: "int-or-string, no overload", schema: `{x-kubernetes-int-or-string: true, x-kubernetes-validations: [{rule: "self > 5"}, {rule: "self.startsWith('a')"}]}`, obj: `a`, want: []string{
			`root: Invalid value: "": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self > 5`,
		}},
		{name: "properties", schema: `{type: object, properties: {b: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}, a: {type: object, properties: {c: {type: string, x-kubernetes-validations: [{rule: "self == 'y'"}]}}, x-kubernetes-validations: [{rule: "has(self.c)"}]}}, x-kubernetes-validations: [{rule: "self.b != 'b'"}]}`, obj: `{b: b, a: {c: c}}`, want: []string{
			`root.a.c: Invalid value: "c": failed rule: self == 'y'`,
			`root.b: Invalid value: "b": failed rule: self == 'x'`,
			"root: Invalid value: failed rule: self.b != 'b'",
		}},
		{name: "absent property", schema: `{type: object, properties: {b: {type: string, x-kubernetes-validations: [{rule: "false"}]}}}`, obj: `{}`},
		{name: "empty properties", schema: `{type: object, properties: {a: {type: object, properties: {b: {type: string, x-kubernetes-validations: [{rule: "false"}]}}}, l: {type: array, items: {type: string, x-kubernetes-validations: [{rule: "false"}]}}}}`, obj: `{a: {}, l: []}`},
		{name: "empty property with a rule", schema: `{type: object, properties: {a: {type: object, x-kubernetes-validations: [{rule: "false", message: m}]}, b: {type: object, allOf: [{x-kubernetes-validations: [{rule: "false", message: other}]}]}}}`, obj: `{a: {}, b: {}}`, want: []string{
			"root.a: Invalid value: m",
			"root.b: Invalid value: other",
		}},
		{name: "empty property under allOf", schema: `{type: object, properties: {a: {type: object}, c: {type: string, x-kubernetes-validations: [{rule: "true"}]}}, allOf: [{properties: {a: {x-kubernetes-validations: [{rule: "false", message: other}]}}}]}`, obj: `{a: {}}`, want: []string{
			"root.a: Invalid value: other",
		}},
		{name: "property of the wrong type", schema: `{type: object, properties: {b: {type: object, properties: {c: {type: string, x-kubernetes-validations: [{rule: "false"}]}}}}}`, obj: `{b: [1]}`},
		{name: "keyword property", schema: `{type: object, properties: {namespace: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}, x-kubernetes-validations: [{rule: "self.namespace == 'y' && self.__namespace__ == 'y'"}]}`, obj: `{namespace: a}`, want: []string{
			`root.namespace: Invalid value: "a": failed rule: self == 'x'`,
			"root: Invalid value: failed rule: self.namespace == 'y' && self.__namespace__ == 'y'",
		}},
		{name: "escaped property", schema: `{type: object, properties: {a-b: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}, x-kubernetes-validations: [{rule: "self.a__dash__b == 'y'"}]}`, obj: `{a-b: a}`, want: []string{
			`root.a-b: Invalid value: "a": failed rule: self == 'x'`,
			"root: Invalid value: failed rule: self.a__dash__b == 'y'",
		}},
		{name: "property without identifier", schema: `{type: object, properties: {"9a": {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}, "ö": {type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: "self == 'y'"}]}}}}}`, obj: `{"9a": a, "ö": {a: b}}`, want: []string{
			`root.9a: Invalid value: "a": failed rule: self == 'x'`,
			`root.ö.a: Invalid value: "b": failed rule: self == 'y'`,
		}},
		{name: "no names", schema: `{type: object, properties: {"": {type: object, properties: {a: {type: object, additionalProperties: {type: object, properties: {"": {type: string, x-kubernetes-validations: [{rule: "false", message: m}]}}}}}}}}`, obj: `{"": {a: {"": {"": x}, "b.c": {"": k}}}}`, want: []string{
			`root[].a[][]: Invalid value: "x": m`,
			`root[].a[b.c][]: Invalid value: "k": m`,
		}},
		{name: "embedded resource without identifier", schema: `{type: object, properties: {"9a": {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "self.metadata.name == 'x'"}]}}}`, obj: `{"9a": {metadata: {name: a}}}`, want: []string{
			"root.9a: Invalid value: failed rule: self.metadata.name == 'x'",
		}},
		{name: "hidden without identifier", schema: `{type: object, properties: {"9a": {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "true"}]}}}`, obj: `{"9a": 1}`},
		{name: "embedded resource", schema: `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: string}}, x-kubernetes-validations: [{rule: "self.kind == 'K' && self.apiVersion == 'v1' && self.metadata.name == 'x' && self.spec == 's'"}]}}}`, obj: `{e: {apiVersion: v1, kind: K, metadata: {name: q}, spec: s}}`, want: []string{
			"root.e: Invalid value: failed rule: self.kind == 'K' && self.apiVersion == 'v1' && self.metadata.name == 'x' && self.spec == 's'",
		}},
		{name: "embedded items", schema: `{type: array, items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-validations: [{rule: "self.kind == 'K'"}]}}`, obj: `[{kind: K}, {kind: L}]`, want: []string{
			"root[1]: Invalid value: failed rule: self.kind == 'K'",
		}},
		{name: "subtree that is embedded", schema: `{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: string}}, x-kubernetes-validations: [{rule: "self.spec == 's'"}, {rule: "self == oldSelf"}]}`, obj: `{kind: K, metadata: {name: a, labels: {a: b}}, spec: t}`, old: `{kind: L, metadata: {name: b, labels: {a: c}}, spec: t}`, want: []string{
			"root: Invalid value: failed rule: self == oldSelf",
			"root: Invalid value: failed rule: self.spec == 's'",
		}},
		{name: "root", root: true, schema: `{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}, x-kubernetes-validations: [{rule: "self.metadata.name == self.spec.a && self.kind == 'K' && !has(self.metadata.generateName)"}]}`, obj: `{apiVersion: g/v1, kind: K, metadata: {name: p, labels: {a: b}}, spec: {a: m}}`, want: []string{
			"root: Invalid value: failed rule: self.metadata.name == self.spec.a && self.kind == 'K' && !has(self.metadata.generateName)",
		}},
		{name: "several rules", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 1"}, {rule: "self > 0"}, {rule: "self > 2", message: " more "}]}`, obj: `1`, want: []string{
			"root: Invalid value: 1: failed rule: self > 1",
			"root: Invalid value: 1: more",
		}},
		{name: "empty rules", schema: `{type: integer, x-kubernetes-validations: [{rule: ""}, {rule: "  \n"}, {rule: "self > 2"}]}`, obj: `1`, want: []string{
			"root: Invalid value: 1: failed rule: self > 2",
		}},
		{name: "only empty rules", schema: `{type: integer, x-kubernetes-validations: [{rule: ""}]}`, obj: `1`},
		{name: "spaces around", schema: `{type: integer, x-kubernetes-validations: [{rule: "  self > 2\n\t"}]}`, obj: `1`, want: []string{
			"root: Invalid value: 1: failed rule: self > 2",
		}},
		{name: "map and properties", schema: `{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: "false"}]}}, additionalProperties: {type: integer, x-kubernetes-validations: [{rule: "self > 1"}]}, x-kubernetes-validations: [{rule: "size(self) > 5"}]}`, obj: `{a: 1, b: 1}`, want: []string{
			"root: Invalid value: failed rule: size(self) > 5",
			"root[a]: Invalid value: 1: failed rule: self > 1",
			"root[b]: Invalid value: 1: failed rule: self > 1",
		}},
	})
}

func TestRulesOnHidden(t *testing.T) {
	t.Parallel()
	runRuleCases(t, []ruleCase{
		{name: "unknown", schema: `{x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "true"}, {rule: "bad("}]}`, obj: `{a: 1}`, broken: true, want: []string{
			`root: Invalid value: "": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
		}},
		{name: "null unknown", schema: `{x-kubernetes-preserve-unknown-fields: true, nullable: true, x-kubernetes-validations: [{rule: "true"}]}`, obj: `null`, broken: true},
		{name: "list of unknown", schema: `{type: array, items: {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "true"}]}}`, obj: `[1, 2]`, broken: true, want: []string{
			`root[0]: Invalid value: "": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
			`root[1]: Invalid value: "": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
		}},
		{name: "the list of unknown itself", schema: `{type: array, items: {x-kubernetes-preserve-unknown-fields: true}, x-kubernetes-validations: [{rule: "true"}]}`, obj: `[1]`, broken: true, want: []string{
			`root: Invalid value: "array": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
		}},
		{name: "map of unknown", schema: `{type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "true"}]}}`, obj: `{a: 1}`, broken: true, want: []string{
			`root[a]: Invalid value: "": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
		}},
		{name: "property that is unknown", schema: `{type: object, properties: {a: {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "false"}]}}}`, obj: `{a: 1}`},
		{name: "below an unknown property", schema: `{type: object, properties: {a: {type: array, items: {x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: string, x-kubernetes-validations: [{rule: "false"}]}}}}}}`, obj: `{a: [{b: x}]}`},
		{name: "items without identifier below", schema: `{x-kubernetes-preserve-unknown-fields: true, properties: {"9": {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}, a: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}}`, obj: `{"9": a, a: b}`, want: []string{
			`root.9: Invalid value: "a": failed rule: self == 'x'`,
		}},
		{name: "items of an object", schema: `{type: object, items: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}`, obj: `[a]`, broken: true, want: []string{
			`root[0]: Invalid value: "string": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
		}},
		{name: "items without a type", schema: `{x-kubernetes-preserve-unknown-fields: true, items: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}`, obj: `[a]`, broken: true, want: []string{
			`root[0]: Invalid value: "string": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
		}},
		{name: "items of int-or-string", schema: `{x-kubernetes-int-or-string: true, items: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}`, obj: `[a]`, broken: true, want: []string{
			`root[0]: Invalid value: "string": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
		}},
		{name: "properties of a string", schema: `{type: string, properties: {a: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}}`, obj: `{a: a}`},
		{name: "values of an array", schema: `{type: array, items: {type: string}, additionalProperties: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}`, obj: `{a: a}`, want: []string{
			`root[a]: Invalid value: "a": failed rule: self == 'x'`,
		}},
		{name: "values of a string", schema: `{type: string, additionalProperties: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}`, obj: `{a: a}`, broken: true, want: []string{
			`root[a]: Invalid value: "string": rule compiler initialization error: failed to convert to declType for CEL validation rules`,
		}},
		{name: "deep items without a type", schema: `{items: {items: {properties: {"9": {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}}}}`, obj: `[[{"9": a}]]`, want: []string{
			`root[0][0].9: Invalid value: "a": failed rule: self == 'x'`,
		}},
	})
}
