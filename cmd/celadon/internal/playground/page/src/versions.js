// What each Kubernetes version makes of a CRD, of its rules, and of the first object. It is computed when
// a table is opened, because each version compiles the CRD.
import { reasonOf } from "./engine.js";
import { h, lazily, number, share } from "./dom.js";

const header = (...titles) => h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title))));

// later returns a <details> whose table is filled with the answer of the engine.
function later(page, make) {
	return lazily("Kubernetes versions", () => {
		const place = h("div", { class: "versions" }, h("p", {}, "…"));
		page.ask({ do: "versions" }).then(
			({ versions }) => place.replaceChildren(h("table", {}, make(versions))),
			(err) => place.replaceChildren(h("p", { class: "warning" }, reasonOf(err))));
		return place;
	}, { class: "block" });
}

const verdicts = { valid: "accepted", invalid: "rejected" };

// crdVersions is the table of a CRD: one row per Kubernetes version.
export function crdVersions(crd, page) {
	return later(page, (versions) => [
		header("Kubernetes", "CRD", "Estimated cost", "Object", "Cost"),
		h("tbody", {}, versions.map((v) => {
			const one = v.crds.find((c) => c.name === crd.name);
			const object = v.objects[0];
			const cause = one?.causes[0];
			return h("tr", {},
				h("th", { scope: "row" }, v.version),
				h("td", { title: cause && `${cause.field}: ${cause.message}` }, !one ? "" : one.accepted ? "accepted" : "rejected"),
				h("td", {}, one ? number(one.estimatedCost) : ""),
				h("td", { title: object?.message }, object ? verdicts[object.verdict] ?? object.verdict : ""),
				h("td", {}, object ? number(object.cost) : ""));
		})),
	]);
}

// ruleVersions is the table of a rule: one row per Kubernetes version.
export function ruleVersions(crd, of, limit, page) {
	return later(page, (versions) => [
		header("Kubernetes", "Estimated cost", "Of the limit"),
		h("tbody", {}, versions.map((v) => {
			const rule = v.crds.find((c) => c.name === crd.name)?.rules.find((r) => r.version === of.version && r.path === of.path && r.index === of.index);
			return h("tr", {},
				h("th", { scope: "row" }, v.version),
				h("td", {}, !rule ? "" : rule.broken ? "does not compile" : number(rule.total)),
				h("td", {}, !rule || rule.broken ? "" : share(rule.total, limit)));
		})),
	]);
}
