// The page sends its state to the engine after each change and shows the results.
import examples from "examples";
import { assist, mendsOf } from "./assist.js";
import { cel } from "./cel.js";
import { $, h } from "./dom.js";
import { go, mark, newEditor, offset, setText, textOf } from "./editors.js";
import { Stopped, isNative, newEngine, reasonOf } from "./engine.js";
import { acceptFiles, save } from "./files.js";
import { fail, showRules, showVerdict } from "./result.js";
import { decode, encode, longest, panes } from "./share.js";
import { failVet, showVet } from "./vet.js";
import { merge } from "./merge.js";
import { themes } from "./theme.js";
import "./style.css";

const labels = { crd: "CRD", object: "Object", old: "Old object", policies: "Policies" };
const editors = {};
let places = new Map(); // positions of rules and suggested bounds, by placeKey
let vetAnswer; // for the current CRD, or undefined
let dirty = false;

const placeKey = (crd, version, path, index, set) => JSON.stringify([crd, version, path, index, set ?? ""]);

const page = {
	ask: (request, signal) => engine.ask({ ...state(), ...request }, signal),
	placeOf: (crd, rule, set) => places.get(placeKey(crd, rule.version, rule.path, rule.index, set)),
	go(pane, line, column) {
		show(pane);
		go(editors[pane], line, column);
	},
	set(pane, text) {
		setText(editors[pane], text);
	},
	// take loads an object and its old version, or a complete state.
	take(object, old) {
		if (typeof object === "string") {
			page.set("object", object);
			page.set("old", old);
			show("result");
			return;
		}
		for (const pane of panes) page.set(pane, object[pane] ?? "");
		choose("kube", object.kubeVersion);
		choose("subresource", object.subresource);
		edited("crd");
	},
	async fix(of) {
		try {
			const answer = await page.ask({ do: "fix", ...of });
			page.set("crd", answer.crd);
		} catch (err) {
			page.notice(reasonOf(err));
		}
	},
	notice(text) {
		$("notice").hidden = !text;
		$("notice").textContent = text;
	},
};

const state = () => ({
	crd: textOf(editors.crd), object: textOf(editors.object), old: textOf(editors.old), policies: textOf(editors.policies),
	kubeVersion: $("kube").value, subresource: $("subresource").value,
});

// choose selects a value in a select element and adds the option if it is missing.
function choose(id, value) {
	const chooser = $(id);
	if (![...chooser.options].some((o) => o.value === value)) chooser.append(h("option", { value }, value));
	chooser.value = value;
}

// How it works: shortly after a change, a round runs check, which the user waits for, and then vet
// if the CRD has changed. If another change arrives during a round, a native engine aborts it. A
// Worker completes it, because that is faster than starting a new Worker.
const engine = newEngine((loaded, all) => {
	const size = all ? ` of ${(all / 2 ** 20).toFixed(0)}` : "";
	$("verdict").replaceChildren(h("p", { class: "wait" }, `Loading the engine: ${(loaded / 2 ** 20).toFixed(0)}${size} MB. You can already edit.`));
});
let timer; // of a change that no round has taken up
let running; // AbortController of the current round
let again = false;
let vetted = ""; // key of the last vetted state
const moment = (length) => (length > 100_000 ? 120 : 15);

function edited(pane) {
	if (pane === "crd") vetAnswer = undefined;
	$("result").classList.add("stale");
	clearTimeout(timer);
	timer = setTimeout(() => {
		timer = undefined;
		round();
	}, moment(pane === "crd" ? editors.crd.state.doc.length : 0));
}

async function round() {
	if (running) {
		again = true;
		if (isNative()) running.abort();
		return;
	}
	running = new AbortController();
	busy(true);
	performance.mark("round");
	try {
		await engine.ready;
		const answer = await page.ask({ do: "check" }, running.signal);
		showVerdict(answer, page);
		showRules(answer, page);
		markObject(answer);
		performance.measure("verdict", "round");
		document.documentElement.dataset.verdict = answer.report.objects.map((o) => o.verdict).join(" ");
		if (!again) await vet(answer);
	} catch (err) {
		if (!again) failed(reasonOf(err));
	}
	running = undefined;
	busy(false);
	$("result").classList.toggle("stale", again || timer !== undefined);
	if (again) {
		again = false;
		round();
	}
}

// failed shows that there is no result. It keeps the verdict on the CRD only if the CRD is unchanged.
function failed(message) {
	fail(message);
	mark(editors.object, []);
	document.documentElement.dataset.verdict = "failed";
	if (!vetAnswer) vetFailed(message);
}

function vetFailed(message) {
	vetAnswer = undefined;
	places = new Map();
	failVet(message);
	mark(editors.crd, []);
	document.documentElement.dataset.vet = "failed";
}

async function vet(answer) {
	const asked = state();
	const key = JSON.stringify([asked.crd, asked.kubeVersion]);
	if (key === vetted && vetAnswer) return;
	vetAnswer = undefined;
	$("vet").classList.add("stale");
	try {
		const found = await page.ask({ do: "vet" }, running.signal);
		if (textOf(editors.crd) !== asked.crd) return; // the next round is pending
		places = new Map(found.places.map((p) => [placeKey(p.crd, p.version, p.path, p.index, p.set), p]));
		showVet(found, page);
		showVerdict(answer, page); // now with the lines of rules
		vetAnswer = found;
		vetted = key;
		markCRD();
		document.documentElement.dataset.vet = found.report.crds.map((c) => c.accepted).join(" ");
	} catch (err) {
		if (!(err instanceof Stopped && again)) vetFailed(reasonOf(err));
	} finally {
		$("vet").classList.remove("stale");
	}
}

function markObject(answer) {
	const findings = [];
	for (const [i, o] of answer.report.objects.entries()) {
		const more = answer.objects[i];
		if (o.problem && o.verdict !== "ignored") findings.push({ line: o.line || 1, severity: o.verdict === "skipped" ? "info" : "error", message: o.problem });
		for (const [n, c] of o.causes.entries()) findings.push({ line: c.line, column: c.column, severity: "error", message: `${more.points[n] || c.message}\n${c.field}${c.rule ? `\nrule: ${c.rule.trim()}` : ""}` });
		for (const [n, s] of (o.strict ?? []).entries()) findings.push({ line: s.line, column: s.column, severity: "error", message: more.strict[n] || s.field });
		for (const c of o.following ?? []) findings.push({ line: c.line, column: c.column, severity: "info", message: `would follow once the above is fixed: ${c.field}: ${c.message}` });
	}
	mark(editors.object, findings);
}

function markCRD() {
	const findings = [];
	for (const [i, crd] of vetAnswer.report.crds.entries()) {
		for (const [n, c] of crd.causes.entries()) {
			const point = vetAnswer.points[i][n]; // "" if another error has the same cause
			if (point) findings.push({ line: c.line, column: c.column, severity: "error", message: point, rule: c.rule });
		}
		for (const l of crd.lints) findings.push({ line: l.line, column: l.column, severity: "warning", message: l.message, rule: l.rule });
	}
	for (const p of vetAnswer.problems) findings.push({ line: p.line, column: p.column, severity: "error", message: p.message });
	for (const n of vetAnswer.notes) findings.push({ line: n.line, column: n.column, severity: "info", message: n.message });
	for (const p of vetAnswer.places) {
		if (!p.set) continue;
		findings.push({ line: p.line, column: p.column, severity: "info", message: `${p.path}: set ${p.set}`, actions: [{ name: `Set ${p.set}`, apply: () => page.fix({ of: p.crd, version: p.version, path: p.path, set: p.set }) }] });
	}
	mark(editors.crd, findings);
	addMends(findings);
}

// mostMends limits the rules for which fixes are requested. Rules that do not compile come first.
const mostMends = 20;

async function addMends(findings) {
	const { doc } = editors.crd.state;
	const rules = vetAnswer.report.crds.flatMap((crd) => crd.versions.flatMap((v) => v.rules.map((r) => ({ ...r, at: page.placeOf(crd.name, { version: v.name, path: r.path, index: r.index }) }))));
	const asked = [...rules.filter((r) => r.broken), ...rules.filter((r) => !r.broken)].filter((r) => r.at?.line > 0).slice(0, mostMends);
	const more = [];
	for (const rule of asked) {
		const found = await mendsOf(page, editors.crd, ruleOffset(rule));
		if (!editors.crd.state.doc.eq(doc)) return;
		more.push(...found.filter((p) => p.kind !== "costly" && (p.kind === "broken" || p.actions.length > 0)).map((p) => ({ ...p, severity: p.kind === "broken" ? "error" : "warning", rule: rule.rule })));
	}
	if (more.length > 0) mark(editors.crd, merge(findings, more));
}

// ruleOffset returns the offset of a rule's expression, or of its position if the expression is not on
// that line.
function ruleOffset(rule) {
	const line = editors.crd.state.doc.line(rule.at.line);
	const at = line.text.indexOf("rule", rule.at.column - 1);
	return at < 0 ? offset(editors.crd, rule.at.line, rule.at.column) : line.from + at;
}

function busy(on) {
	$("busy").hidden = !on;
	clearTimeout(busy.timer);
	$("stop").hidden = true;
	if (on) busy.timer = setTimeout(() => ($("stop").hidden = false), 1500);
}

// show selects the visible pane on narrow screens.
function show(pane) {
	document.querySelector("main").dataset.shown = pane;
	for (const button of document.querySelectorAll("nav button")) button.setAttribute("aria-pressed", button.dataset.show === pane);
}

async function openShare() {
	const words = { unknown: "", passwords: 0 };
	const safe = { ...state() };
	try {
		const answer = await page.ask({ do: "share" });
		Object.assign(words, answer);
		safe.object = answer.object;
		safe.old = answer.old;
	} catch (err) {
		words.unknown = reasonOf(err);
		safe.object = safe.old = "";
	}
	const some = words.passwords > 0 || (words.unknown && (state().object || state().old));
	$("sharing-secrets").hidden = !some;
	$("sharing-secrets").querySelector("span").textContent = words.unknown
		? `Include the objects, although secrets in them cannot be detected (${words.unknown})`
		: `Include ${words.passwords === 1 ? "the password" : `the ${words.passwords} passwords`}`;
	$("with-secrets").checked = false;
	let shared;
	const fill = async () => {
		shared = $("with-secrets").checked ? state() : safe;
		const link = `${location.href.split("#")[0]}#${await encode(shared)}`;
		$("link").value = link;
		const long = link.length > longest;
		$("sharing-words").textContent = long
			? `The link has ${link.length.toLocaleString("en-US")} characters, but many programs truncate links of more than ${longest.toLocaleString("en-US")}. Save a file and send it instead.`
			: "The link contains everything. Nothing is stored on a server.";
		$("sharing-words").className = long ? "warning" : "";
		$("copy").className = long ? "" : "main";
		$("save-all").className = long ? "main" : "";
		if (isNative()) $("sharing-words").textContent += " It opens on a page built with make site; on this page, only while the command runs.";
		$("copied").textContent = "";
	};
	$("with-secrets").onchange = fill;
	$("copy").onclick = async () => {
		try {
			await navigator.clipboard.writeText($("link").value);
			$("copied").textContent = "Copied.";
		} catch {
			$("link").select();
			$("copied").textContent = "Press Ctrl+C to copy the selected link.";
		}
	};
	$("save-all").onclick = () => save("celadon-playground.json", JSON.stringify(shared, null, 2) + "\n", "application/json");
	await fill();
	if (!$("sharing").open) $("sharing").showModal();
}

// fromLink opens the state in the link and reports whether there was one.
async function fromLink() {
	if (location.hash.length < 2 || !location.hash.startsWith("#v")) return false;
	try {
		page.take(await decode(location.hash.slice(1)));
		page.notice("");
		return true;
	} catch (err) {
		page.notice(`The link cannot be opened: ${err.message}. Request a new link, or the file.`);
		return false;
	}
}

// celadonAsk lets tests and scripts send a request to the engine.
window.celadonAsk = (question) => engine.ask(question);

// celadonType lets them put a text into a pane.
window.celadonType = (pane, text) => page.set(pane, text);

async function begin() {
	for (const pane of panes) {
		editors[pane] = newEditor($(`editor-${pane}`), labels[pane], () => {
			dirty = true;
			edited(pane);
		}, { crd: [assist(page), cel], policies: cel }[pane] ?? []);
	}
	for (const [i, example] of examples.entries()) $("examples").append(h("option", { value: String(i) }, example.title));
	$("examples").addEventListener("change", () => {
		const example = examples[Number($("examples").value)];
		if (example) page.take({ ...example, kubeVersion: "", subresource: "" });
		dirty = false;
	});
	for (const id of ["kube", "subresource"]) $(id).addEventListener("change", () => edited("crd"));
	for (const button of document.querySelectorAll("nav button")) button.addEventListener("click", () => show(button.dataset.show));
	for (const button of document.querySelectorAll("[data-save]")) button.addEventListener("click", () => save(`${button.dataset.save}.yaml`, textOf(editors[button.dataset.save])));
	$("share").addEventListener("click", openShare);
	$("help").addEventListener("click", () => $("helping").showModal());
	$("stop").addEventListener("click", () => running?.abort());
	$("skip").addEventListener("click", (event) => {
		event.preventDefault();
		show("result");
		$("verdict").focus();
	});
	addEventListener("hashchange", fromLink);
	addEventListener("beforeunload", (event) => dirty && event.preventDefault());
	themes($("theme"));
	acceptFiles(page);
	show("result");
	engine.ready.catch((err) => failed(`the engine cannot start: ${err.message}`));
	engine.ready.then(() => engine.ask({ do: "about" })).then(({ kubeVersions }) => {
		const chosen = $("kube").value;
		$("kube").replaceChildren(h("option", { value: "" }, `newest (${kubeVersions[0]})`), ...kubeVersions.map((v) => h("option", { value: v }, v)));
		choose("kube", chosen);
	}, () => {});
	if (!(await fromLink())) await first();
	dirty = false;
}

async function first() {
	const files = isNative() ? await (await fetch("start.json")).json() : {};
	if (files.crd || files.object || files.old || files.kubeVersion) {
		page.take({ ...files, subresource: "" });
	} else {
		page.take({ ...examples[0], kubeVersion: "", subresource: "" });
		$("examples").value = "0";
	}
}

begin();
