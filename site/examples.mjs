// Examples of a page that the playground can open: YAML with a CRD, commands that read files of examples/, and
// links to CRDs there.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { parse, stringify } from "yaml";
import { root } from "./pages.mjs";

// maxExample is the maximum size of an example, in characters. Browsers and programs truncate longer links.
const maxExample = 32_000;

// exampleOf returns the state of the playground for a block of code, or undefined if it has no CRD.
export function exampleOf(tokens, index) {
	const { info, content } = tokens[index];
	const example = info.trim() === "yaml" ? fromYAML(tokens, index) : info.trim() === "console" ? fromCommands(content) : undefined;
	return example && JSON.stringify(example).length <= maxExample ? example : undefined;
}

// exampleOfLink returns the state for a link to a crd.yaml of examples/, or undefined for another link. If there is
// a suite.yaml next to it, the state has the object of its first case that the CRD rejects.
export function exampleOfLink(href) {
	const file = /^\.\.\/(examples\/[\w/-]+)\/crd\.yaml$/.exec(href)?.[1];
	if (!file) return undefined;
	const read = (name) => readFileSync(path.join(root, file, name), "utf8");
	const example = { crd: read("crd.yaml") };
	if (!existsSync(path.join(root, file, "suite.yaml"))) return example;
	const { base, tests } = parse(read("suite.yaml"));
	const rejected = tests.find((t) => t.expect?.causes && !t.skip);
	if (!rejected) return example;
	const write = (object, patch) => (object || patch ? stringify(object ?? merge(base, patch)) : "");
	return {
		...example, subresource: rejected.subresource ?? "",
		object: `# ${rejected.name}\n${write(rejected.object, rejected.patch ?? {})}`, old: write(rejected.old, rejected.oldPatch),
	};
}

// merge returns value with a JSON merge patch applied (RFC 7386).
function merge(value, patch) {
	if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return patch;
	const merged = value !== null && typeof value === "object" && !Array.isArray(value) ? { ...value } : {};
	for (const [key, part] of Object.entries(patch)) {
		if (part === null) delete merged[key];
		else merged[key] = merge(merged[key], part);
	}
	return merged;
}

const documents = (text) => text.split(/^---.*\n/m).filter((doc) => /^kind:/m.test(doc) && kind(doc) !== "RuleTest");
const join = (docs) => docs.map((doc) => (doc.endsWith("\n") ? doc : `${doc}\n`)).join("---\n");
const kind = (doc) => /^kind: *"?([\w-]+)/m.exec(doc)?.[1];
const isCRD = (doc) => kind(doc) === "CustomResourceDefinition";
const isPolicy = (doc) => /^(Validating|Mutating)AdmissionPolicy(Binding)?$/.test(kind(doc));
const defines = (crd, doc) => new RegExp(`^ +kind: *"?${kind(doc)}"?$`, "m").test(crd);

// fromYAML returns a CRD with the objects of its kind in the same block and in the blocks that follow, up to the
// next CRD. A block of objects is opened with the CRD before it.
function fromYAML(tokens, index) {
	const blocks = tokens.map((t) => (t.type === "fence" && t.info.trim() === "yaml" ? documents(t.content) : []));
	const from = blocks.findLastIndex((docs, i) => i <= index && docs.some(isCRD));
	if (from < 0) return undefined;
	const crds = blocks[from].filter(isCRD);
	const objects = (docs) => docs.filter((doc) => !isCRD(doc) && crds.some((crd) => defines(crd, doc)));
	if (from < index) {
		const here = objects(blocks[index]);
		return here.length > 0 ? { crd: join(crds), object: join(here) } : undefined;
	}
	const next = blocks.findIndex((docs, i) => i > index && docs.some(isCRD));
	return { crd: join(crds), object: join(objects(blocks.slice(index, next < 0 ? undefined : next).flat())) };
}

// fromCommands returns the files that the first suitable command of a console block reads.
function fromCommands(content) {
	for (const [, command] of content.matchAll(/^\$ (.*)$/gm)) {
		const example = fromCommand(command);
		if (example) return example;
	}
	return undefined;
}

const commands = /^(?:.*\| *)?celadon (?:check|vet|find|eval|explain) ([^|;<>]*)/;

// unsupported matches flags for which the playground would show another result than the command.
const unsupported = /--(crd-old|validate|operation|subresource|cluster|fix|baseline|field-selector)\b/;

function fromCommand(command) {
	const args = commands.exec(command)?.[1];
	if (!args || unsupported.test(args)) return undefined;
	const panes = { crd: [], object: [], old: [], policies: [] };
	let flag = "";
	for (const word of args.split(/ +/)) {
		for (const doc of filesOf(word).flatMap(documents)) {
			const pane = isCRD(doc) ? "crd" : flag === "--policy" || isPolicy(doc) ? "policies" : flag === "--old" ? "old" : "object";
			if (!panes[pane].includes(doc)) panes[pane].push(doc);
		}
		flag = word;
	}
	if (panes.crd.length === 0) return undefined;
	return Object.fromEntries(Object.entries(panes).map(([pane, docs]) => [pane, join(docs)]).filter(([, text]) => text !== ""));
}

// filesOf returns the YAML files at a path of the repository, in alphabetical order.
function filesOf(word) {
	const file = path.join(root, word);
	if (!word.startsWith("examples/") || path.relative(root, file).startsWith("..")) return [];
	const stat = statSync(file, { throwIfNoEntry: false });
	if (!stat) return [];
	const files = stat.isDirectory() ? readdirSync(file).sort().map((name) => path.join(file, name)) : [file];
	return files.filter((name) => /\.ya?ml$/.test(name)).map((name) => readFileSync(name, "utf8"));
}
