package engine_test

var ruleVersionCases = []versionCase{
	{name: "a false rule", obj: `spec: {even: 1, name: z, mixed: "1", items: [a]}`, want: map[int][]string{
		28: {`spec.even: Invalid value: "integer": odd`, `spec.name: Duplicate value: "string"`, `spec.mixed: Invalid value: "": not one`, `spec.items: Duplicate value: "array"`},
		35: {`spec.even: Invalid value: 1: odd`, `spec.name: Duplicate value: "z"`, `spec.mixed: Invalid value: "1": not one`, `spec.items: Duplicate value`},
	}},
	{name: "a path for later rules", obj: `spec: {pair: {a: 0, b: 1}}`, want: map[int][]string{
		28: {`spec.pair.b: Invalid value: "object": not zero either`, `spec.pair.b: Invalid value: "object": no sum`, `spec.pair.b: Invalid value: "object": division by zero evaluating rule: not one`},
		30: {`spec.pair.b: Invalid value: "object": not zero either`, `spec.pair: Invalid value: "object": no sum`, `spec.pair: Invalid value: "object": division by zero evaluating rule: not one`},
		35: {`spec.pair.b: Invalid value: not zero either`, `spec.pair: Invalid value: no sum`, `spec.pair: Invalid value: "object": division by zero evaluating rule: not one`},
	}},
	{name: "a path below a path", obj: `spec: {pair: {a: 2, b: 1}, even: 1}`, want: map[int][]string{
		28: {`spec.pair.a: Invalid value: "object": not zero`, `spec.pair.a.b: Invalid value: "object": not zero either`, `spec.pair.a.b: Invalid value: "object": no sum`, `spec.pair.a.b: Invalid value: "object": not one`, `spec.even: Invalid value: "integer": odd`},
		30: {`spec.pair.a: Invalid value: "object": not zero`, `spec.pair.b: Invalid value: "object": not zero either`, `spec.pair: Invalid value: "object": no sum`, `spec.pair: Invalid value: "object": not one`, `spec.even: Invalid value: "integer": odd`},
		35: {`spec.pair.a: Invalid value: not zero`, `spec.pair.b: Invalid value: not zero either`, `spec.pair: Invalid value: no sum`, `spec.pair: Invalid value: not one`, `spec.even: Invalid value: 1: odd`},
	}},
	{name: "an unchanged odd value", obj: `spec: {even: 1, color: red}`, old: `spec: {even: 1}`,
		want:     map[int][]string{28: {`spec.even: Invalid value: "integer": odd`}, 30: nil},
		warnings: map[int][]string{30: {`spec.even: Invalid value: "integer": odd`}, 35: {"spec.even: Invalid value: 1: odd"}}},
	{name: "an unchanged odd value in the status", status: true, obj: `status: {even: 1, count: 1}`, old: `status: {even: 1}`,
		want:     map[int][]string{28: {`status.even: Invalid value: "integer": odd`}, 33: nil},
		warnings: map[int][]string{33: {`status.even: Invalid value: "integer": odd`}, 35: {"status.even: Invalid value: 1: odd"}}},
}
