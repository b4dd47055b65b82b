package engine_test

import "strings"

var schemaCases = []versionCase{
	{name: "a fractional bound", obj: `spec: {half: 1}`, want: map[int][]string{36: {checkedInt("Minimum boundary", "spec.half", "integer (default format)")}}},
	{name: "below a fractional bound", obj: `spec: {half: 0}`, want: map[int][]string{36: {
		checkedInt("Minimum boundary", "spec.half", "integer (default format)"),
		in("spec.half", "0: $ should be greater than or equal to 0.5"),
	}}},
	{name: "a fractional factor", obj: `spec: {step: 1}`, want: map[int][]string{
		28: {in("spec.step", "0: factor MultipleOf declared for spec.step must be positive: 0")},
		36: {checkedInt("MultipleOf", "spec.step", "integer (default format)")},
	}},
	{name: "beyond int32", obj: `spec: {small: 3000000000}`, want: map[int][]string{36: {checkedInt("Checked", "spec.small", "integer with format int32")}}},
	{name: "beyond float", obj: `spec: {single: 1e300}`, want: map[int][]string{36: {checkedInt("Checked", "spec.single", "number with format float")}}},
	{name: "the format of another type", obj: `spec: {day: "2024-01-01"}`, want: both(func(skip string) map[int][]string {
		return map[int][]string{28: {in("spec.day", `"string": $ must be of type integer: "string"`), skip}}
	})},
	{name: "the format and type of another type", obj: `spec: {day: x}`, want: both(func(skip string) map[int][]string {
		return map[int][]string{
			28: {in("spec.day", `"string": $ must be of type integer: "string"`), in("spec.day", `"x": $ must be of type date: "x"`), skip},
			36: {in("spec.day", `"string": $ must be of type integer: "string"`), skip},
		}
	})},
	{name: "a date as a boolean", obj: `spec: {flag: "2024-01-01"}`, want: map[int][]string{36: {in("spec.flag", `"string": $ must be of type boolean: "string"`), nullSkip}}},
	{name: "a number as a boolean with a format", obj: `spec: {flag: 1}`, want: both(func(skip string) map[int][]string {
		return map[int][]string{
			28: {in("spec.flag", `"int64": $ must be of type date: "int64"`), skip},
			36: {in("spec.flag", `"integer": $ must be of type boolean: "integer"`), skip},
		}
	})},
	{name: "a boolean as an int32", obj: `spec: {small: true}`, want: both(func(skip string) map[int][]string {
		return map[int][]string{
			28: {in("spec.small", `"boolean": $ must be of type integer: "boolean"`), skip},
			36: {in("spec.small", `"": $ must be of type int32: ""`), skip},
		}
	})},
	{name: "a host", obj: `spec: {host: "a b"}`, want: both(func(skip string) map[int][]string {
		return map[int][]string{28: {in("spec.host", `"a b": $ must be of type hostname: "a b"`), skip}}
	})},
	{name: "a label", obj: `spec: {label: "a b"}`, want: map[int][]string{35: {in("spec.label", `"a b": $ must be of type k8s-short-name: "a b"`), nullSkip}}},
	{name: "maxLength", obj: `spec: {one: ab, short: abc}`, want: both(func(skip string) map[int][]string {
		return map[int][]string{
			28: {"spec.one: Too long: may not be longer than 1", "spec.short: Too long: may not be longer than 2", skip},
			32: {"spec.one: Too long: may not be more than 1 bytes", "spec.short: Too long: may not be more than 2 bytes", skip},
			34: {"spec.one: Too long: may not be more than 1 byte", "spec.short: Too long: may not be more than 2 bytes", skip},
		}
	})},
	{name: "maxItems", obj: `spec: {single-item: [a, b], few: [a, b, c], many: {a: b, c: d}}`, want: both(func(skip string) map[int][]string {
		return map[int][]string{
			28: {"spec.few: Too many: 3: must have at most 2 items", "spec.many: Too many: 2: must have at most 1 items", "spec.single-item: Too many: 2: must have at most 1 items", skip},
			34: {"spec.few: Too many: 3: must have at most 2 items", "spec.many: Too many: 2: must have at most 1 item", "spec.single-item: Too many: 2: must have at most 1 item", skip},
		}
	})},
	{name: "minItems", obj: `spec: {some: []}`, want: map[int][]string{28: {in("spec.some", "0: $ should have at least 1 items")}}},
	{name: "an enum next to a rule", obj: `spec: {color: green, even: 1}`, want: map[int][]string{
		28: {`spec.color: Unsupported value: "green": supported values: "red", "blue"`, `spec.even: Invalid value: "integer": odd`},
		29: {`spec.color: Unsupported value: "green": supported values: "red", "blue"`, goSkip},
		34: {`spec.color: Unsupported value: "green": supported values: "red", "blue"`, nullSkip},
	}},
	{name: "an enum of an object", obj: `spec: {free: {b: [1, 1.5, null], a: "<"}}`, want: map[int][]string{
		28: {`spec.free: Unsupported value: map[string]interface {}{"a":"<", "b":[]interface {}{1, 1.5, interface {}(nil)}}: supported values: "1"`},
		29: {`spec.free: Unsupported value: map[string]interface {}{"a":"<", "b":[]interface {}{1, 1.5, interface {}(nil)}}: supported values: "1"`, goSkip},
		34: {`spec.free: Unsupported value: {"a":"\u003c","b":[1,1.5,null]}: supported values: "1"`, nullSkip},
	}},
	{name: "duplicate keys", obj: `spec: {ports: [{name: a}, {name: a}]}`, want: map[int][]string{
		28: {`spec.ports[1]: Duplicate value: map[string]interface {}{"name":"a"}`},
		34: {`spec.ports[1]: Duplicate value: {"name":"a"}`},
	}},
	{name: "an embedded resource", obj: `spec: {pod: {metadata: {ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: ""}]}}}`, want: map[int][]string{
		28: {"spec.pod.apiVersion: Required value: must not be empty", "spec.pod.kind: Required value: must not be empty", `spec.pod.metadata.ownerReferences.uid: Invalid value: "": uid must not be empty`, goSkip},
		34: {"spec.pod.apiVersion: Required value", "spec.pod.kind: Required value", `spec.pod.metadata.ownerReferences.uid: Invalid value: "": must not be empty`, nullSkip},
		37: {"spec.pod.apiVersion: Required value", "spec.pod.kind: Required value", "spec.pod.metadata.ownerReferences[0].uid: Required value: must not be empty", nullSkip},
	}},
	{name: "an unchanged invalid value", obj: `spec: {one: ab, short: a}`, old: `spec: {one: ab}`, want: map[int][]string{
		28: {"spec.one: Too long: may not be longer than 1", goSkip},
		30: nil,
	}},
	{name: "an unchanged invalid status", status: true, obj: `status: {phase: x, count: 1}`, old: `status: {phase: x}`, want: map[int][]string{
		28: {`phase: Unsupported value: "x": supported values: "ready"`},
		29: {`phase: Unsupported value: "x": supported values: "ready"`, goSkip},
		31: {`status.phase: Unsupported value: "x": supported values: "ready"`, goSkip},
		33: nil,
	}},
	{name: "a changed invalid status", status: true, obj: `status: {count: 4}`, old: `status: {count: 5}`, want: map[int][]string{
		28: {in("count", "4: $ should be less than or equal to 3")},
		31: {"status.count: Invalid value: 4: count in body should be less than or equal to 3"},
	}},
	{name: "a status of another type", status: true, obj: `status: x`, old: `status: {count: 1}`, want: map[int][]string{
		28: {`<nil>: Invalid value: "string":  in body must be of type object: "string"`, goSkip},
		31: {`status: Invalid value: "string":  in body must be of type object: "string"`, goSkip},
		34: {`status: Invalid value: "string":  in body must be of type object: "string"`, nullSkip},
	}},
}

const (
	goSkip   = `<nil>: Invalid value: "null": ` + skippedRules
	nullSkip = `<nil>: Invalid value: null: ` + skippedRules
)

// The error for skipped rules has another form since 1.34.
func both(of func(skip string) map[int][]string) map[int][]string {
	before, since := of(goSkip), of(nullSkip)
	out := map[int][]string{34: as(since, 34)}
	for minor, causes := range before {
		if minor < 34 {
			out[minor] = causes
		}
	}
	for minor, causes := range since {
		if minor >= 34 {
			out[minor] = causes
		}
	}
	return out
}

var longName = strings.Repeat("a", 64)
