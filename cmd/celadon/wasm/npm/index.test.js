import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import * as celadon from "./index.js";

const example = (name) => readFile(new URL(`${process.env.CELADON_EXAMPLES}/crontab/${name}`, "file:"), "utf8");
const crd = await example("crd.yaml");
const cron = (replicas) => ({ apiVersion: "stable.example.com/v1", kind: "CronTab", metadata: { name: "a" }, spec: { schedule: "0 3 * * *", image: "a", replicas, maxReplicas: 10 } });

test("check", async () => {
	const { report, problems } = await celadon.check({ crd, object: await example("objects/bad.yaml") });
	assert.deepEqual(problems, []);
	assert.equal(report.summary.invalid, 3);
	assert.equal(report.objects[0].causes[0].message, "Invalid value: replicas is 20, more than maxReplicas: 10");
	const several = await celadon.check({ crd, object: [cron(1), cron(20)], kubeVersion: "1.33" });
	assert.deepEqual(several.report.objects.map((o) => o.verdict), ["valid", "invalid"]);
	assert.equal((await celadon.check({ crd: "a: [", object: cron(1) })).problems.length, 1);
	await assert.rejects(celadon.check({ crd, object: cron(1), kubeVersion: "1.2" }), /kube-version/);
});

test("vet", async () => {
	const { report, problems } = await celadon.vet({ crd: crd.replace("self.maxReplicas", "self.maxReplica") });
	assert.deepEqual(problems, []);
	assert.equal(report.summary.refused, 1);
	assert.equal(report.crds[0].causes[0].hint, "did you mean maxReplicas?");
});

test("eval", async () => {
	const object = cron(3);
	const { value, type } = await celadon.eval({ crd, object, expression: "self.spec.replicas + 1" });
	assert.deepEqual([value, type], [4, "integer"]);
	assert.equal((await celadon.eval({ crd, object, old: cron(2), at: "spec", expression: "self.replicas > oldSelf.replicas" })).value, true);
	assert.match((await celadon.eval({ crd, object, expression: "self.spec.replica" })).error.message, /undefined field/);
	await assert.rejects(celadon.eval({ crd: "kind: X", object, expression: "1" }), /no CustomResourceDefinition/);
});

test("calls at the same time", async () => {
	const reports = await Promise.all([1, 2, 3].map((n) => celadon.eval({ crd, object: cron(n), expression: "self.spec.replicas" })));
	assert.deepEqual(reports.map((r) => r.value), [1, 2, 3]);
});
