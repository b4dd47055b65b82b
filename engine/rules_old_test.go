package engine_test

import "testing"

func TestTransitionRules(t *testing.T) {
	t.Parallel()
	const grow = `x-kubernetes-validations: [{rule: "self >= oldSelf", message: grow}]`
	runRuleCases(t, []ruleCase{
		{name: "create", schema: `{type: integer, ` + grow + `}`, obj: `1`},
		{name: "update", schema: `{type: integer, ` + grow + `}`, obj: `1`, old: `2`, want: []string{
			"root: Invalid value: 1: grow",
		}},
		{name: "null before", schema: `{type: integer, nullable: true, ` + grow + `}`, obj: `1`, old: `null`},
		{name: "null now", schema: `{type: integer, nullable: true, ` + grow + `}`, obj: `null`, old: `2`},
		{name: "unchanged and false", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > oldSelf"}]}`, obj: `1`, old: `1`, want: []string{
			"root: Invalid value: 1: failed rule: self > oldSelf",
		}},
		{name: "field", schema: `{type: object, properties: {a: {type: integer, ` + grow + `}}}`, obj: `{a: 1}`, old: `{a: 2}`, want: []string{
			"root.a: Invalid value: 1: grow",
		}},
		{name: "field that is new", schema: `{type: object, properties: {a: {type: integer, ` + grow + `}}}`, obj: `{a: 1}`, old: `{}`},
		{name: "field that is gone", schema: `{type: object, properties: {a: {type: integer, ` + grow + `}}, x-kubernetes-validations: [{rule: "has(self.a) || !has(oldSelf.a)", message: keep}]}`, obj: `{}`, old: `{a: 1}`, want: []string{
			"root: Invalid value: keep",
		}},
		{name: "field of an atomic map", schema: `{type: object, x-kubernetes-map-type: atomic, properties: {a: {type: integer, ` + grow + `}}}`, obj: `{a: 1}`, old: `{a: 2}`, want: []string{
			"root.a: Invalid value: 1: grow",
		}},
		{name: "field of another map type", schema: `{type: object, x-kubernetes-map-type: odd, properties: {a: {type: integer, ` + grow + `}}}`, obj: `{a: 1}`, old: `{a: 2}`},
		{name: "map value", schema: `{type: object, additionalProperties: {type: integer, ` + grow + `}}`, obj: `{a: 1, b: 1}`, old: `{a: 2}`, want: []string{
			"root[a]: Invalid value: 1: grow",
		}},
		{name: "item", schema: `{type: array, items: {type: integer, ` + grow + `}}`, obj: `[1]`, old: `[2]`},
		{name: "item of a set", schema: `{type: array, x-kubernetes-list-type: set, items: {type: integer, ` + grow + `}}`, obj: `[1]`, old: `[2]`},
		{name: "item of a map list", schema: `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: {type: integer, ` + grow + `}}, x-kubernetes-validations: [{rule: "!has(oldSelf.v) || has(self.v)", message: keep}]}}`, obj: `[{k: c, v: 1}, {k: b}, {k: a, v: 1}, {v: 1}, x, null]`, old: `[{k: a, v: 2}, {k: b, v: 1}, {v: 3}, x]`, want: []string{
			"root[1]: Invalid value: keep",
			"root[2].v: Invalid value: 1: grow",
		}},
		{name: "item of a map list with two keys", schema: `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, p], items: {type: object, properties: {k: {type: string}, p: {type: integer}, v: {type: integer, ` + grow + `}}}}`, obj: `[{k: a, p: 1, v: 1}, {k: a, p: 2, v: 1}, {k: a, v: 1}]`, old: `[{k: a, p: 2, v: 2}, {k: a, p: 1, v: 0}, {k: a, v: 9}]`, want: []string{
			"root[1].v: Invalid value: 1: grow",
		}},
		{name: "duplicate keys", schema: `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: {type: integer, ` + grow + `}}}}`, obj: `[{k: a, v: 1}, {k: a, v: 3}]`, old: `[{k: a, v: 2}, {k: a, v: 1}]`, want: []string{
			"root[0].v: Invalid value: 1: grow",
		}},
		{name: "below an uncorrelatable list", schema: `{type: array, items: {type: object, properties: {a: {type: integer, ` + grow + `}}}}`, obj: `[{a: 1}]`, old: `[{a: 2}]`},
		{name: "old of another type", schema: `{type: object, properties: {a: {type: object, properties: {b: {type: integer, ` + grow + `}}}}}`, obj: `{a: {b: 1}}`, old: `{a: [2]}`},
		{name: "below a new value", schema: `{type: object, properties: {a: {type: object, additionalProperties: {type: array, items: {type: object, properties: {b: {type: integer, ` + grow + `}}}}}, c: {type: integer, ` + grow + `}}}`, obj: `{a: {x: [{b: 1}]}, c: 1}`, old: `{a: {}, c: 2}`, want: []string{
			"root.c: Invalid value: 1: grow",
		}},
		{name: "with rules of other kinds below", schema: `{type: object, properties: {a: {type: object, properties: {b: {type: integer, ` + grow + `}, c: {type: array, items: {type: integer, x-kubernetes-validations: [{rule: "self > 1"}]}}, d: {type: integer, x-kubernetes-validations: [{rule: "!oldSelf.hasValue() && self > 1", optionalOldSelf: true}]}, e: {type: integer, allOf: [{x-kubernetes-validations: [{rule: "self > 2"}]}]}}}}}`, obj: `{a: {b: 1, c: [1], d: 1, e: 1}}`, want: []string{
			"root.a.c[0]: Invalid value: 1: failed rule: self > 1",
			"root.a.d: Invalid value: 1: failed rule: !oldSelf.hasValue() && self > 1",
			"root.a.e: Invalid value: 1: failed rule: self > 2",
		}},
		{name: "with an invalid rule", broken: true, schema: `{type: object, properties: {a: {type: object, properties: {b: {type: integer, ` + grow + `}, c: {type: integer, x-kubernetes-validations: [{rule: "oldSelf.x"}]}}}}}`, obj: `{a: {b: 1, c: 1}}`, want: []string{
			"root.a.c: Invalid value: \"integer\": rule compile error: compilation failed: ERROR: <input>:1:8: type 'int' does not support field selection\n | oldSelf.x\n | .......^",
		}},
		{name: "old value of the wrong type", schema: `{type: integer, ` + grow + `}`, obj: `1`, old: `x`, want: []string{
			`root: Invalid value: "integer": invalid data, expected int, got string evaluating rule: grow`,
		}},
		{name: "oldSelf as a macro's variable", schema: `{type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "self.all(oldSelf, oldSelf > 1)"}]}`, obj: `[1]`},
		{name: "oldSelf in a comment", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 1 // oldSelf"}]}`, obj: `1`, want: []string{
			"root: Invalid value: 1: failed rule: self > 1 // oldSelf",
		}},
		{name: "oldSelf in a string", schema: `{type: string, x-kubernetes-validations: [{rule: "self != 'oldSelf'"}]}`, obj: `oldSelf`, want: []string{
			`root: Invalid value: "oldSelf": failed rule: self != 'oldSelf'`,
		}},
	})
}

func TestOptionalOldSelf(t *testing.T) {
	t.Parallel()
	const rule = `x-kubernetes-validations: [{rule: "oldSelf.optMap(o, self > o).orValue(self > 5)", optionalOldSelf: true}]`
	runRuleCases(t, []ruleCase{
		{name: "optional, create", schema: `{type: integer, ` + rule + `}`, obj: `1`, want: []string{
			"root: Invalid value: 1: failed rule: oldSelf.optMap(o, self > o).orValue(self > 5)",
		}},
		{name: "create, true", schema: `{type: integer, ` + rule + `}`, obj: `6`},
		{name: "optional, update", schema: `{type: integer, ` + rule + `}`, obj: `1`, old: `2`, want: []string{
			"root: Invalid value: 1: failed rule: oldSelf.optMap(o, self > o).orValue(self > 5)",
		}},
		{name: "update, unchanged", schema: `{type: integer, ` + rule + `}`, obj: `1`, old: `1`, want: []string{
			"root: Invalid value: 1: failed rule: oldSelf.optMap(o, self > o).orValue(self > 5)",
		}},
		{name: "old is bad", schema: `{type: integer, ` + rule + `}`, obj: `1`, old: `x`, want: []string{
			`root: Invalid value: "integer": invalid data, expected int, got string evaluating rule: oldSelf.optMap(o, self > o).orValue(self > 5)`,
		}},
		{name: "false", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > oldSelf", optionalOldSelf: false}]}`, obj: `1`},
		{name: "with other rules", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > oldSelf"}, {rule: "oldSelf.hasValue()", optionalOldSelf: true}, {rule: "self > 1"}]}`, obj: `1`, want: []string{
			"root: Invalid value: 1: failed rule: oldSelf.hasValue()",
			"root: Invalid value: 1: failed rule: self > 1",
		}},
		{name: "with other rules, update", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > oldSelf"}, {rule: "!oldSelf.hasValue()", optionalOldSelf: true}, {rule: "self > 1"}]}`, obj: `1`, old: `2`, want: []string{
			"root: Invalid value: 1: failed rule: !oldSelf.hasValue()",
			"root: Invalid value: 1: failed rule: self > 1",
			"root: Invalid value: 1: failed rule: self > oldSelf",
		}},
		{name: "not used", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 1", optionalOldSelf: true}]}`, obj: `1`, want: []string{
			"root: Invalid value: 1: failed rule: self > 1",
		}},
		{name: "not used, unchanged", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 1", optionalOldSelf: true}]}`, obj: `1`, old: `1`, warnings: []string{
			"root: Invalid value: 1: failed rule: self > 1",
		}},
		{name: "of a field", schema: `{type: object, properties: {a: {type: object, properties: {b: {type: integer}}}}, x-kubernetes-validations: [{rule: "oldSelf.?a.?b.orValue(0) <= self.?a.?b.orValue(0)", optionalOldSelf: true}]}`, obj: `{a: {b: 1}}`, old: `{a: {b: 2}}`, want: []string{
			"root: Invalid value: failed rule: oldSelf.?a.?b.orValue(0) <= self.?a.?b.orValue(0)",
		}},
		{name: "as a plain value", broken: true, schema: `{type: integer, x-kubernetes-validations: [{rule: "self > oldSelf", optionalOldSelf: true}]}`, obj: `1`, old: `2`, want: []string{
			"root: Invalid value: \"integer\": rule compile error: compilation failed: ERROR: <input>:1:6: found no matching overload for '_>_' applied to '(int, optional_type(int))'\n | self > oldSelf\n | .....^",
		}},
		{name: "as an optional without optionalOldSelf", broken: true, schema: `{type: integer, x-kubernetes-validations: [{rule: "oldSelf.hasValue()"}]}`, obj: `1`, old: `2`, want: []string{
			"root: Invalid value: \"integer\": rule compile error: compilation failed: ERROR: <input>:1:17: found no matching overload for 'hasValue' applied to 'int.()'\n | oldSelf.hasValue()\n | ................^",
		}},
		{name: "items", schema: `{type: array, items: {type: integer, x-kubernetes-validations: [{rule: "oldSelf.hasValue()", optionalOldSelf: true}]}}`, obj: `[1]`, old: `[1]`, want: []string{
			"root[0]: Invalid value: 1: failed rule: oldSelf.hasValue()",
		}},
		{name: "map list items", schema: `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}}, x-kubernetes-validations: [{rule: "oldSelf.hasValue()", optionalOldSelf: true, messageExpression: "self.k + ' is new'"}]}}`, obj: `[{k: a}, {k: b}]`, old: `[{k: b}]`, want: []string{
			"root[0]: Invalid value: a is new",
		}},
	})
}

func TestRatchetedRules(t *testing.T) {
	t.Parallel()
	const positive = `x-kubernetes-validations: [{rule: "self > 0", message: positive}]`
	mapList := func(rules string) string {
		return `{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: {type: integer, ` + positive + `}, w: {type: string}}` + rules + `}}}}`
	}
	runRuleCases(t, []ruleCase{
		{name: "unchanged", schema: `{type: integer, ` + positive + `}`, obj: `0`, old: `0`, warnings: []string{
			"root: Invalid value: 0: positive",
		}},
		{name: "changed", schema: `{type: integer, ` + positive + `}`, obj: `0`, old: `-1`, want: []string{
			"root: Invalid value: 0: positive",
		}},
		{name: "int and float", schema: `{type: number, x-kubernetes-validations: [{rule: "self > 1.5"}]}`, obj: `1`, old: `1.0e0`, warnings: []string{
			"root: Invalid value: 1: failed rule: self > 1.5",
		}},
		{name: "strict", strict: true, schema: `{type: integer, ` + positive + `}`, obj: `0`, old: `0`, want: []string{
			"root: Invalid value: 0: positive",
		}},
		{name: "ratchet on create", schema: `{type: integer, ` + positive + `}`, obj: `0`, want: []string{
			"root: Invalid value: 0: positive",
		}},
		{name: "several", schema: `{type: object, properties: {a: {type: integer, ` + positive + `}, b: {type: integer, ` + positive + `}, c: {type: integer, ` + positive + `}}, x-kubernetes-validations: [{rule: "self.a > 5"}]}`, obj: `{a: 0, b: 0, c: 0}`, old: `{a: 0, b: -1}`, want: []string{
			"root.b: Invalid value: 0: positive",
			"root.c: Invalid value: 0: positive",
			"root: Invalid value: failed rule: self.a > 5",
		}, warnings: []string{
			"root.a: Invalid value: 0: positive",
		}},
		{name: "whole object unchanged", schema: `{type: object, properties: {a: {type: integer, ` + positive + `}}, x-kubernetes-validations: [{rule: "self.a > 5"}]}`, obj: `{a: 0}`, old: `{a: 0}`, warnings: []string{
			"root.a: Invalid value: 0: positive",
			"root: Invalid value: failed rule: self.a > 5",
		}},
		{name: "map values", schema: `{type: object, additionalProperties: {type: integer, ` + positive + `}}`, obj: `{a: 0, b: 0, c: 0}`, old: `{a: 0, b: -1}`, want: []string{
			"root[b]: Invalid value: 0: positive",
			"root[c]: Invalid value: 0: positive",
		}, warnings: []string{
			"root[a]: Invalid value: 0: positive",
		}},
		{name: "atomic list, changed elsewhere", schema: `{type: object, properties: {l: {type: array, items: {type: integer, ` + positive + `}}}}`, obj: `{l: [0, 1]}`, old: `{l: [0]}`, want: []string{
			"root.l[0]: Invalid value: 0: positive",
		}},
		{name: "atomic list, unchanged", schema: `{type: object, properties: {l: {type: array, items: {type: integer, ` + positive + `}}, x: {type: string}}}`, obj: `{l: [0, 1], x: a}`, old: `{l: [0, 1], x: b}`, warnings: []string{
			"root.l[0]: Invalid value: 0: positive",
		}},
		{name: "atomic list, other order", schema: `{type: object, properties: {l: {type: array, items: {type: integer, ` + positive + `}}}}`, obj: `{l: [0, 1]}`, old: `{l: [1, 0]}`, want: []string{
			"root.l[0]: Invalid value: 0: positive",
		}},
		{name: "empty lists", schema: `{type: object, properties: {l: {type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "size(self) > 0"}]}, m: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object}, x-kubernetes-validations: [{rule: "size(self) > 0"}]}}}`, obj: `{l: [], m: []}`, old: `{l: [], m: []}`, warnings: []string{
			"root.l: Invalid value: failed rule: size(self) > 0",
			"root.m: Invalid value: failed rule: size(self) > 0",
		}},
		{name: "set, unchanged", schema: `{type: array, x-kubernetes-list-type: set, items: {type: integer, ` + positive + `}}`, obj: `[0, 1]`, old: `[0, 1]`, warnings: []string{
			"root[0]: Invalid value: 0: positive",
		}},
		{name: "set, other order", schema: `{type: array, x-kubernetes-list-type: set, items: {type: integer, ` + positive + `}}`, obj: `[0, 1]`, old: `[1, 0]`, want: []string{
			"root[0]: Invalid value: 0: positive",
		}},
		{name: "map list, unchanged item", schema: mapList(``), obj: `{l: [{k: b, v: 0}, {k: a, v: 0}]}`, old: `{l: [{k: a, v: 0}, {k: b, v: -1}]}`, want: []string{
			"root.l[0].v: Invalid value: 0: positive",
		}, warnings: []string{
			"root.l[1].v: Invalid value: 0: positive",
		}},
		{name: "map list, item changed elsewhere", schema: mapList(`, x-kubernetes-validations: [{rule: "self.v > 3"}]`), obj: `{l: [{k: a, v: 0, w: x}]}`, old: `{l: [{k: a, v: 0, w: z}]}`, want: []string{
			"root.l[0]: Invalid value: failed rule: self.v > 3",
		}, warnings: []string{
			"root.l[0].v: Invalid value: 0: positive",
		}},
		{name: "map list, other order and equal", schema: `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}}}, x-kubernetes-validations: [{rule: "size(self) > 5"}]}`, obj: `[{k: a}, {k: b}]`, old: `[{k: b}, {k: a}]`, warnings: []string{
			"root: Invalid value: failed rule: size(self) > 5",
		}},
		{name: "map list, one more", schema: `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}}}, x-kubernetes-validations: [{rule: "size(self) > 5"}]}`, obj: `[{k: a}, {k: b}]`, old: `[{k: b}]`, want: []string{
			"root: Invalid value: failed rule: size(self) > 5",
		}},
		{name: "map list, keys missing", schema: mapList(``), obj: `{l: [{v: 0}]}`, old: `{l: [{v: 0}]}`, want: []string{
			"root.l[0].v: Invalid value: 0: positive",
		}},
		{name: "map list, duplicates", schema: mapList(``), obj: `{l: [{k: a, v: 0}, {k: a, v: -1}]}`, old: `{l: [{k: a, v: 0}, {k: a, v: -1}]}`, want: []string{
			"root.l[1].v: Invalid value: -1: positive",
		}, warnings: []string{
			"root.l[0].v: Invalid value: 0: positive",
		}},
		{name: "map list without keys", schema: `{type: array, x-kubernetes-list-type: map, items: {type: integer, ` + positive + `}, x-kubernetes-validations: [{rule: "size(self) > 5"}]}`, obj: `[0]`, old: `[0]`, want: []string{
			"root: Invalid value: failed rule: size(self) > 5",
			"root[0]: Invalid value: 0: positive",
		}},
		{name: "nested lists", schema: `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, in: {type: array, items: {type: object, properties: {v: {type: integer, ` + positive + `}}}}}}}`, obj: `[{k: a, in: [{v: 0}]}, {k: b, in: [{v: 0}]}]`, old: `[{k: b, in: [{v: 0}]}, {k: a, in: [{v: 1}]}]`, want: []string{
			"root[0].in[0].v: Invalid value: 0: positive",
		}, warnings: []string{
			"root[1].in[0].v: Invalid value: 0: positive",
		}},
		{name: "unknown fields count", schema: `{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: "self.a > 0"}]}`, obj: `{a: 0, x: 1}`, old: `{a: 0, x: 1}`, want: []string{
			"root: Invalid value: failed rule: self.a > 0",
		}},
		{name: "field without a schema", schema: `{type: object, properties: {a: {type: integer, ` + positive + `}, m: {type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "false"}]}}}`, obj: `{a: 0, m: {x: 1}}`, old: `{a: 0, m: {x: 1}}`, want: []string{
			"root.m: Invalid value: failed rule: false",
		}, warnings: []string{
			"root.a: Invalid value: 0: positive",
		}},
		{name: "map list without items", schema: `{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}}, x-kubernetes-validations: [{rule: "false"}]}`, obj: `{l: [{k: a}]}`, old: `{l: [{k: a}]}`, want: []string{
			"root: Invalid value: failed rule: false",
		}},
		{name: "empty map list without items", schema: `{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}}, x-kubernetes-validations: [{rule: "false"}]}`, obj: `{l: []}`, old: `{l: []}`, warnings: []string{
			"root: Invalid value: failed rule: false",
		}},
		{name: "null fields", schema: `{type: object, properties: {a: {type: integer, nullable: true}}, x-kubernetes-validations: [{rule: "has(self.a)"}]}`, obj: `{a: null}`, old: `{a: null}`, warnings: []string{
			"root: Invalid value: failed rule: has(self.a)",
		}},
		{name: "null and absent", schema: `{type: object, properties: {a: {type: integer, nullable: true}}, x-kubernetes-validations: [{rule: "has(self.a)"}]}`, obj: `{a: null}`, old: `{}`, want: []string{
			"root: Invalid value: failed rule: has(self.a)",
		}},
		{name: "transition", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > oldSelf"}]}`, obj: `0`, old: `0`, want: []string{
			"root: Invalid value: 0: failed rule: self > oldSelf",
		}},
		{name: "transition that mentions it in vain", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0 || oldSelf == 7"}]}`, obj: `0`, old: `0`, want: []string{
			"root: Invalid value: 0: failed rule: self > 0 || oldSelf == 7",
		}},
		{name: "reasons", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 0", reason: FieldValueRequired, message: m}]}`, obj: `0`, old: `0`, warnings: []string{
			"root: Required value: m",
		}},
		{name: "field path", schema: `{type: object, properties: {a: {type: integer}, b: {type: integer}}, x-kubernetes-validations: [{rule: "false", fieldPath: ".a"}]}`, obj: `{a: 1}`, old: `{a: 1}`, warnings: []string{
			"root.a: Invalid value: failed rule: false",
		}},
		{name: "allOf", schema: `{type: object, properties: {a: {type: integer, x-kubernetes-validations: [{rule: "self > 1"}], allOf: [{x-kubernetes-validations: [{rule: "self > 2"}]}]}}}`, obj: `{a: 0}`, old: `{a: 0}`, warnings: []string{
			"root.a: Invalid value: 0: failed rule: self > 1",
			"root.a: Invalid value: 0: failed rule: self > 2",
		}},
		{name: "allOf, parent changed", schema: `{type: object, properties: {b: {type: integer}, a: {type: integer, x-kubernetes-validations: [{rule: "self > 1"}], allOf: [{x-kubernetes-validations: [{rule: "self > 2"}]}]}}}`, obj: `{a: 0, b: 1}`, old: `{a: 0}`, want: []string{
			"root.a: Invalid value: 0: failed rule: self > 2",
		}, warnings: []string{
			"root.a: Invalid value: 0: failed rule: self > 1",
		}},
		{name: "allOf at the root", schema: `{type: integer, x-kubernetes-validations: [{rule: "self > 1"}], allOf: [{x-kubernetes-validations: [{rule: "self > 2"}]}]}`, obj: `0`, old: `0`, want: []string{
			"root: Invalid value: 0: failed rule: self > 2",
		}, warnings: []string{
			"root: Invalid value: 0: failed rule: self > 1",
		}},
		{name: "allOf, nested", schema: `{type: object, properties: {p: {type: object, properties: {a: {type: object, properties: {b: {type: integer}}}}, x-kubernetes-validations: [{rule: "true"}], allOf: [{properties: {a: {x-kubernetes-validations: [{rule: "self.b > 1"}], properties: {b: {x-kubernetes-validations: [{rule: "self > 2"}]}}}}}]}}}`, obj: `{p: {a: {b: 0}}}`, old: `{p: {a: {b: 0}}}`, warnings: []string{
			"root.p.a.b: Invalid value: 0: failed rule: self > 2",
			"root.p.a: Invalid value: failed rule: self.b > 1",
		}},
		{name: "apiVersion and kind of a root", root: true, schema: `{type: object, properties: {apiVersion: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}, kind: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}, spec: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}, x-kubernetes-validations: [{rule: "self.spec == 'x'"}]}`, obj: `{apiVersion: g/v1, kind: K, metadata: {name: a}, spec: s}`, old: `{apiVersion: g/v1, kind: K, metadata: {name: a}, spec: s}`, want: []string{
			`root.apiVersion: Invalid value: "g/v1": failed rule: self == 'x'`,
			`root.kind: Invalid value: "K": failed rule: self == 'x'`,
			"root: Invalid value: failed rule: self.spec == 'x'",
		}, warnings: []string{
			`root.spec: Invalid value: "s": failed rule: self == 'x'`,
		}},
		{name: "apiVersion and kind below a root", root: true, schema: `{type: object, properties: {spec: {type: object, properties: {apiVersion: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}, kind: {type: object, properties: {kind: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}}}}}}`, obj: `{kind: K, spec: {apiVersion: a, kind: {kind: b}}}`, old: `{kind: K, spec: {apiVersion: a, kind: {kind: b}}}`, warnings: []string{
			`root.spec.apiVersion: Invalid value: "a": failed rule: self == 'x'`,
			`root.spec.kind.kind: Invalid value: "b": failed rule: self == 'x'`,
		}},
		{name: "kind of a map", schema: `{type: object, additionalProperties: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}`, obj: `{kind: a, b: a}`, old: `{kind: a, b: a}`, want: []string{
			`root[kind]: Invalid value: "a": failed rule: self == 'x'`,
		}, warnings: []string{
			`root[b]: Invalid value: "a": failed rule: self == 'x'`,
		}},
		{name: "kind of an object", schema: `{type: object, properties: {kind: {type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}}}}`, obj: `{kind: {a: b}}`, old: `{kind: {a: b}}`, want: []string{
			`root.kind.a: Invalid value: "b": failed rule: self == 'x'`,
		}},
		{name: "embedded resource", schema: `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {kind: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}, x-kubernetes-validations: [{rule: "self.metadata.name == 'x'"}]}}}`, obj: `{e: {kind: K, metadata: {name: a}}}`, old: `{e: {kind: K, metadata: {name: a}}}`, want: []string{
			"root.e: Invalid value: failed rule: self.metadata.name == 'x'",
		}, warnings: []string{
			`root.e.kind: Invalid value: "K": failed rule: self == 'x'`,
		}},
		{name: "metadata of a root", root: true, schema: `{type: object, properties: {metadata: {type: object}}, x-kubernetes-validations: [{rule: "self.metadata.name == 'x'"}]}`, obj: `{kind: K, metadata: {name: a, labels: {b: c}}}`, old: `{kind: K, metadata: {name: a, labels: {b: c}}}`, want: []string{
			"root: Invalid value: failed rule: self.metadata.name == 'x'",
		}},
		{name: "metadata of a root that is equal", root: true, schema: `{type: object, properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object, properties: {name: {type: string}}}}, x-kubernetes-validations: [{rule: "self.metadata.name == 'x'"}]}`, obj: `{kind: K, metadata: {name: a}}`, old: `{kind: K, metadata: {name: a}}`, warnings: []string{
			"root: Invalid value: failed rule: self.metadata.name == 'x'",
		}},
	})
}
