// The API server's verdict on the objects, with reasons.
import { reasonOf } from "./engine.js";
import { $, bar, count, draw, h, lazily, message, number, share } from "./dom.js";

// Runtime cost limits: of one call of a rule, and of all rules of an object.
export const limits = { call: 1_000_000, object: 10_000_000 };

const verdicts = {
	valid: "Accepted", invalid: "Rejected", skipped: "Not checked", unreadable: "Unreadable", undecided: "Undecided", ignored: "Not an object",
};

const named = (o) => (o.kind ? `${o.kind} ${o.namespace ? o.namespace + "/" : ""}${o.name}` : `document ${o.document + 1}`);

function headline(o) {
	const what = `${verdicts[o.verdict] ?? o.verdict}: ${named(o)}`;
	if (o.verdict !== "valid" && o.verdict !== "invalid") return what;
	return `${what} (${[o.operation, o.subresource].filter(Boolean).join(" of ")})`;
}

// decided returns the objects that are not ignored, each with its additional data and its index.
const decided = (answer) => answer.report.objects.map((o, i) => [o, answer.objects[i], i]).filter(([o]) => o.verdict !== "ignored");

// fail replaces the complete result by the reason why there is none.
export function fail(message) {
	draw($("verdict"), message, () => [h("p", { class: "headline undecided" }, "No result"), h("pre", { class: "kubectl" }, message)]);
	for (const id of ["causes", "persisted", "rules"]) draw($(id), message, () => []);
}

// showVerdict shows the results of check. If there is no object, it shows a hint.
export function showVerdict(answer, page) {
	const objects = decided(answer);
	draw($("verdict"), [answer.problems, objects.map(([o, more]) => [headline(o), more.kubectl, o.problem, o.warnings])], () => verdict(answer, objects));
	const lines = ([o, more]) => [named(o), o.causes, o.strict, o.following, o.policies, o.mutations, more.crd, more.causes.map((i) => more.rules[i] && page.placeOf(more.crd, more.rules[i]))];
	draw($("causes"), objects.map(lines), () => objects.flatMap(([o, more]) => [causes(o, more, page), policies(o, page)]).filter(Boolean));
	draw($("persisted"), objects.map(([o, more]) => [named(o), more.diff]), () => objects.map(([o, more]) => persisted(o, more)).filter(Boolean));
}

function verdict(answer, objects) {
	const parts = [];
	objects.forEach(([o, more]) => {
		parts.push(h("p", { class: `headline ${o.verdict}` }, headline(o)));
		const words = more.kubectl || o.problem;
		if (words) parts.push(h("pre", { class: "kubectl" }, words.trim()));
		for (const warning of o.warnings) parts.push(h("p", { class: "warning" }, `Warning: ${warning}`));
	});
	if (objects.length === 0) parts.push(h("p", { class: "wait" }, "Enter an object to see whether the API server would accept it."));
	if (answer.problems.length > 0) parts.push(h("details", { class: "block", open: true }, h("summary", {}, "Problems of the CRD, the old object, or the policies"), h("pre", { class: "problems" }, answer.problems.join("\n"))));
	return parts;
}

function causes(o, more, page) {
	const found = [...o.causes.map((c, i) => [c, more.rules[more.causes[i]]]), ...(o.strict ?? []).map((s, i) => [{ ...s, reason: "", message: more.strict[i] ?? "" }])];
	if (found.length === 0) return null;
	return h("section", { "aria-label": `Why ${named(o)} is rejected` },
		h("h3", {}, `Why (${count(found.length, "cause")})`),
		h("ol", { class: "causes" }, found.map(([c, rule]) => cause(c, rule, more, page))),
		following(o, more, page));
}

// following lists the causes that the server would report once the others are fixed.
function following(o, more, page) {
	if (!(o.following?.length > 0)) return null;
	return h("div", { class: "following" },
		h("h4", {}, "Would follow once the above is fixed"),
		h("ol", { class: "causes" }, o.following.map((c) => cause(c, undefined, more, page))));
}

// policies shows the decisions of policies about an object, and what they changed.
function policies(o, page) {
	const decisions = o.policies ?? [];
	const mutations = (o.mutations ?? []).filter((m) => m.changed || m.errors?.length > 0);
	if (decisions.length + mutations.length === 0) return null;
	return h("section", { "aria-label": `Policies about ${named(o)}` },
		h("h3", {}, `Policies (${count(decisions.length + mutations.length, "decision")})`),
		h("ol", { class: "causes" },
			mutations.map((m) => h("li", {}, h("p", {}, h("code", { class: "field" }, m.policy), m.changed ? " changed the object " : " failed ", h("small", {}, `binding ${m.binding}, cost ${number(m.cost)}`)), (m.errors ?? []).map((text) => h("p", {}, message(text))))),
			decisions.map((d) => h("li", {},
				h("p", {}, h("code", { class: "field" }, d.policy), " ", message(d.message), " ", h("small", {}, `${d.action || "Ignored"}, binding ${d.binding}, cost ${number(d.cost)}`)),
				d.expression && h("pre", { class: "rule" }, d.expression.trim()),
				values(d.values),
				d.line > 0 && h("p", { class: "places" }, h("button", { type: "button", onclick: () => page.go("policies", d.line) }, `Policy, line ${d.line}`))))));
}

// values is a table of what an expression read.
function values(list) {
	if (!(list?.length > 0)) return null;
	return h("table", { class: "values" }, h("tbody", {}, list.map((v) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, v.expr)), h("td", {}, h("code", {}, v.value))))));
}

function cause(c, rule, more, page) {
	const at = rule && page.placeOf(more.crd, rule);
	return h("li", {},
		h("p", {}, h("code", { class: "field" }, c.field || "the whole object"), " ", message(c.message), " ", c.reason && h("small", {}, c.reason)),
		c.rule && h("pre", { class: "rule" }, c.rule.trim()),
		values(c.values),
		c.valuesNotShown && h("p", { class: "wait" }, `Values not shown: ${c.valuesNotShown}`),
		h("p", { class: "places" },
			c.line > 0 && h("button", { type: "button", onclick: () => page.go("object", c.line, c.column) }, `Object, line ${c.line}`),
			at?.line > 0 && h("button", { type: "button", onclick: () => page.go("crd", at.line, at.column) }, `Rule, line ${at.line}`)));
}

function persisted(o, more) {
	if (!more.diff) return null;
	const lines = more.diff.split("\n").slice(2);
	const kinds = { "+": "add", "-": "del", "@": "at" };
	return h("details", { class: "block" }, h("summary", {}, `How ${named(o)} is persisted (defaults and pruning)`),
		h("pre", { class: "diff" }, lines.map((line) => h("span", { class: kinds[line[0]] }, line + "\n"))));
}

// showRules shows the rules that ran on the objects and their results. Open elements stay open.
export function showRules(answer, page) {
	const box = $("rules");
	const open = new Set([...box.querySelectorAll("details[open]")].map((details) => details.dataset.key));
	draw(box, decided(answer).map(([o, more, i]) => [named(o), o.cost, more.crd, more.rules, more.runs, i]), () => decided(answer).map(([o, more, i]) => {
		if (more.rules.length === 0) return null;
		return h("section", { "aria-label": `Rules that ran on ${named(o)}` },
			h("h3", {}, `${count(more.rules.length, "rule")} ran on ${named(o)}`),
			h("p", { class: "spent" }, bar(o.cost, limits.object, "Cost of the object"), ` cost ${number(o.cost)} of ${number(limits.object)} per object (${share(o.cost, limits.object)})`),
			h("ul", { class: "rules" }, more.rules.map((rule, n) => ranRule(rule, n, more, i, open, page))));
	}).filter(Boolean));
}

function ranRule(rule, n, more, item, open, page) {
	const mark = rule.failed > 0 ? h("span", { class: "mark no", title: "rejected" }, "✗") : h("span", { class: "mark yes", title: "passed" }, "✓");
	const summary = h("span", { class: "row" }, mark, h("code", { class: "rule" }, rule.rule.trim()),
		h("span", { class: "costs" }, bar(rule.cost, limits.call, "Cost"), h("span", { class: "amount" }, number(rule.cost))));
	const key = (...more) => JSON.stringify([item, rule.version, rule.path, rule.index, ...more]);
	const kept = (key) => ({ "data-key": key, open: open.has(key) });
	return h("li", {}, lazily(summary, () => {
		const runs = more.runs.map((run, i) => [run, i]).filter(([run]) => run.rule === n);
		const at = page.placeOf(more.crd, rule);
		return h("div", { class: "inside" },
			h("p", {}, h("code", {}, rule.path || "the whole object"), `: ${count(rule.runs, "run")}, ${rule.failed} failed, cost ${number(rule.cost)}`,
				at?.line > 0 && [" ", h("button", { type: "button", onclick: () => page.go("crd", at.line, at.column) }, `Rule, line ${at.line}`)], " ",
				finder(more.crd, rule, page)),
			h("ul", { class: "runs" }, runs.map(([run, i]) => h("li", {}, lazily([h("code", {}, run.field === "<nil>" ? "the whole object" : run.field), ` ${run.outcome}`], () => tree(item, i, page), kept(key(run.field)))))),
			runs.length < rule.runs && h("p", {}, `${rule.runs - runs.length} more runs not shown`));
	}, kept(key())));
}

// tree shows the operands of one run of a rule.
function tree(item, run, page) {
	const box = h("div", { class: "tree" }, "…");
	page.ask({ do: "trace", item, run }).then((answer) => {
		const nodes = [];
		for (const part of answer.parts) {
			const node = { part, children: [] };
			while (nodes.length > part.depth) nodes.pop();
			nodes.at(-1)?.children.push(node);
			nodes.push(node);
			if (part.depth === 0) box.root = node;
		}
		box.replaceChildren(h("ul", {}, nodeItem(box.root)));
		if (answer.error) box.append(h("p", { class: "warning" }, answer.error));
	}, (err) => box.replaceChildren(h("p", { class: "warning" }, reasonOf(err))));
	return box;
}

function nodeItem({ part, children }) {
	const row = [h("code", { class: "operand" }, part.text), " ", h("code", { class: `value v-${part.value === "true" || part.value === "false" ? part.value : "other"}` }, part.value || "not evaluated"), " ", h("small", {}, part.cost > 0 ? `cost ${number(part.cost)}` : "")];
	if (children.length === 0) return h("li", {}, h("span", { class: "leaf" }, row));
	return h("li", {}, h("details", { open: part.depth < 3 }, h("summary", {}, row), h("ul", {}, children.map(nodeItem))));
}

// finder returns a button that searches for an object that a rule rejects.
export function finder(crd, rule, page) {
	const said = h("span", { role: "status", class: "found" });
	const button = h("button", { type: "button", "aria-label": `Find an object that is rejected by ${rule.rule.trim()}`, onclick: async () => {
		button.disabled = true;
		said.replaceChildren(" searching …");
		try {
			const answer = await page.ask({ do: "find", of: crd, version: rule.version, path: rule.path, index: rule.index, want: "refused", steps: 20_000 });
			said.replaceChildren(` ${answer.words} `);
			if (answer.object) said.append(h("button", { type: "button", onclick: () => page.take(answer.object, answer.old ?? "") }, "Use it"));
		} catch (err) {
			said.replaceChildren(` ${reasonOf(err)}`);
		}
		button.disabled = false;
	} }, "Find an object it rejects");
	return [button, said];
}
