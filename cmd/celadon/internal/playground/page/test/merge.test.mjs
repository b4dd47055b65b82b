// Tests of how findings and fixes are merged, without a browser: node --test test/merge.test.mjs
import assert from "node:assert/strict";
import test from "node:test";
import { merge } from "../src/merge.js";

test("a problem that a finding has is shown once, with its fixes", () => {
	const broken = { line: 3, severity: "error", message: "undefined field 'a'", rule: "self.a" };
	const lint = { line: 4, severity: "warning", message: "self.b is optional; write has(self.b)", rule: "self.b" };
	const fixes = [
		{ from: 5, to: 6, problem: "undefined field 'a'", rule: "self.a", actions: ["a"] },
		{ from: 7, to: 8, problem: "self.b is optional", rule: "self.b", actions: ["b"] },
	];
	assert.deepEqual(merge([broken, lint], fixes), [{ ...broken, from: 5, to: 6, actions: ["a"] }, { ...lint, from: 7, to: 8, actions: ["b"] }]);
	assert.equal(broken.to, undefined);
});

test("other problems are added", () => {
	const f = { line: 3, severity: "error", message: "undefined field 'a'", rule: "self.a" };
	const same = { from: 5, to: 6, problem: "undefined field 'a'", rule: "self.a", actions: [] };
	const otherRule = { ...same, rule: "self.a || self.c" };
	const otherProblem = { ...same, problem: "no such overload" };
	assert.deepEqual(merge([f], [otherRule, otherProblem]), [f, otherRule, otherProblem]);
	// The same rule twice: each of the two findings gets the fixes of its own.
	const twice = merge([f, { ...f, line: 9 }], [same, { ...same, from: 50, to: 60 }]);
	assert.deepEqual(twice.map((x) => x.from), [5, 50]);
});
