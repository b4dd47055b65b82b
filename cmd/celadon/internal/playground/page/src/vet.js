// The API server's verdict on the CRD, and the cost estimates of its rules.
import { $, bar, count, draw, h, lazily, message, number, share } from "./dom.js";
import { crdVersions, ruleVersions } from "./versions.js";
import { finder } from "./result.js";

export function showVet(answer, page) {
	const { problems, notes, kubectl, report: { crds } } = answer;
	draw($("vet"), answer, () => [
		...crds.map((crd, i) => vetted(crd, kubectl[i], page)),
		crds.length === 0 && h("div", {}, h("h3", {}, "The CRD"), h("p", { class: "headline undecided" }, "No CRD")),
		problems.length > 0 && h("ol", { class: "causes", "aria-label": "Problems of the CRD" }, problems.map((p) => problem(p, page))),
		notes.length > 0 && h("ol", { class: "causes notes", "aria-label": "Notes about the CRD" }, notes.map((n) => problem(n, page))),
	].filter(Boolean));
}

const problem = (p, page) => h("li", {}, h("p", {}, message(p.message)),
	h("p", { class: "places" }, h("button", { type: "button", onclick: () => page.go("crd", p.line, p.column || 1) }, `CRD, line ${p.line}`)));

// failVet replaces the verdict on the CRD by the reason why there is none.
export const failVet = (message) => draw($("vet"), message, () => [h("h3", {}, "The CRD"), h("p", { class: "headline undecided" }, "No result"), h("p", { class: "warning" }, message)]);

function vetted(crd, kubectl, page) {
	const verdict = crd.problem ? "undecided" : crd.accepted ? "valid" : "invalid";
	const words = { valid: "The CRD would be accepted", invalid: "The CRD would be rejected", undecided: "The CRD is undecided" }[verdict];
	return h("section", { "aria-label": `The CRD ${crd.name}` },
		h("h3", {}, "The CRD"),
		h("p", { class: `headline ${verdict}` }, `${words}${crd.name ? `: ${crd.name}` : ""}`),
		crd.minKubeVersion && h("p", {}, `Its rules need Kubernetes ${crd.minKubeVersion} or later.`),
		crd.versions.map((v) => v.advice.length > 0 && advice(crd, v, page)),
		kubectl && h("details", { class: "block" }, h("summary", {}, "kubectl output"), h("pre", { class: "kubectl" }, kubectl.trim())),
		crd.causes.length > 0 && h("ol", { class: "causes" }, crd.causes.map((c) => finding(c.field, c.message, c.reason, c, page))),
		crd.warnings.map((w) => h("p", { class: "warning" }, `Warning: ${w}`)),
		crd.lints.length > 0 && h("div", {}, h("h4", {}, `Lints (${crd.lints.length})`), h("ol", { class: "causes" }, crd.lints.map((l) => finding(l.path || "the whole object", l.message, l.lint, l, page)))),
		crd.versions.map((v) => version(crd, v, page)),
		!crd.problem && crdVersions(crd, page));
}

function finding(where, words, kind, at, page) {
	return h("li", {}, h("p", {}, h("code", { class: "field" }, where), " ", message(words), " ", h("small", {}, kind)),
		at.rule && h("pre", { class: "rule" }, at.rule.trim()),
		at.line > 0 && h("p", { class: "places" }, h("button", { type: "button", onclick: () => page.go("crd", at.line, at.column) }, `CRD, line ${at.line}`)));
}

function version(crd, v, page) {
	return h("div", { class: "version" },
		h("h4", {}, `${v.name}: ${count(v.rules.length, "rule")}`),
		h("p", { class: "spent" }, bar(v.estimatedCost, v.limit, `Estimated cost of ${v.name}`), ` estimated ${number(v.estimatedCost)} of ${number(v.limit)} for all rules (${share(v.estimatedCost, v.limit)})`),
		h("ul", { class: "rules" }, [...v.rules].sort((a, b) => total(b) - total(a)).map((rule) => estimated(crd, v, rule, page))));
}

const total = (rule) => Math.max(rule.estimatedTotal, rule.messageExpressionCost);

function advice(crd, v, page) {
	const apply = (label, of) => h("button", { type: "button", onclick: () => page.fix(of) }, label);
	return h("div", { class: "advice" },
		h("p", {}, `${crd.versions.length > 1 ? `${v.name}: ` : ""}${v.mendable ? "With these bounds, all rules fit:" : "With these bounds, the other rules fit:"} `, apply("Set all bounds", {})),
		h("ul", {}, v.advice.map((a) => {
			const at = page.placeOf(crd.name, { version: v.name, path: a.path, index: 0 }, a.set);
			return h("li", {}, h("code", {}, `${a.path || "the whole object"}: ${a.set}: ${a.value}`), a.now ? ` (now ${a.now}) ` : " ",
				apply("Set it", { of: crd.name, version: v.name, path: a.path, set: a.set }), " ",
				at?.line > 0 && h("button", { type: "button", onclick: () => page.go("crd", at.line, at.column) }, `Line ${at.line}`));
		})));
}

function estimated(crd, v, rule, page) {
	const mark = rule.broken ? h("span", { class: "mark no", title: "does not compile" }, "✗") : rule.over || total(rule) > rule.limit ? h("span", { class: "mark no", title: "too expensive" }, "!") : h("span", { class: "mark" }, "·");
	const summary = h("span", { class: "row" }, mark, h("code", { class: "rule" }, rule.rule.trim()),
		h("span", { class: "costs" }, bar(total(rule), rule.limit, "Estimated"), h("span", { class: "amount" }, number(total(rule)))));
	const of = { version: v.name, path: rule.path, index: rule.index, rule: rule.rule };
	return h("li", {}, lazily(summary, () => {
		const at = page.placeOf(crd.name, of);
		return h("div", { class: "inside" },
			h("p", {}, h("code", {}, rule.path || "the whole object"), rule.broken ? ": does not compile" : `: ${number(rule.estimatedCost)} per run, at most ${count(rule.cardinality, "run")}: ${number(rule.estimatedTotal)}, ${share(rule.estimatedTotal, rule.limit)} of ${number(rule.limit)} per rule`),
			rule.messageExpression && h("p", {}, "messageExpression: ", h("code", {}, rule.messageExpression), ` ${number(rule.messageExpressionCost)}`),
			rule.factors.map((f) => h("p", {}, h("code", {}, f.path), f.max === null ? ` has no ${f.bound}` : `: ${f.bound} ${number(f.max)}`)),
			rule.reason && h("div", {}, h("p", {}, "Most of it in: ", h("code", {}, rule.reason.expression)),
				rule.reason.missing.map((m) => h("p", {}, h("code", {}, m.path || "the whole object"), ` has no ${m.bound}: ${number(m.assumed)} assumed`)),
				rule.reason.notes.map((note) => h("p", {}, note))),
			ruleVersions(crd, of, rule.limit, page),
			h("p", { class: "places" }, at?.line > 0 && h("button", { type: "button", onclick: () => page.go("crd", at.line, at.column) }, `Rule, line ${at.line}`), " ", !rule.broken && finder(crd.name, of, page)));
	}));
}
