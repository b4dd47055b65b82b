// The engine of Celadon as functions. It runs in this thread, and its first call loads it.
import "./wasm_exec.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

async function load() {
	const url = new URL("celadon.wasm", import.meta.url);
	if (url.protocol === "file:") {
		const { readFile } = await import("node:fs/promises");
		return WebAssembly.compile(await readFile(url));
	}
	return WebAssembly.compileStreaming(fetch(url));
}

async function start() {
	const go = new Go();
	const instance = await WebAssembly.instantiate(await load(), go.importObject);
	await new Promise((resolve, reject) => {
		globalThis.celadonReady = resolve;
		go.run(instance).then(() => reject(new Error("the engine has ended")), reject);
	});
}

// text returns documents, which are YAML or values, as text.
function text(documents) {
	if (typeof documents === "string") return documents;
	return [documents].flat().map((value) => JSON.stringify(value)).join("\n---\n");
}

let started;

async function ask(kind, { crd, object, old, policies, ...rest }) {
	started ??= start();
	await started;
	const request = { ...rest, do: kind };
	for (const [key, documents] of Object.entries({ crd, object, old, policies })) {
		if (documents !== undefined) request[key] = text(documents);
	}
	const reply = await new Promise((resolve) => globalThis.celadon(encoder.encode(JSON.stringify(request)), resolve));
	const { value, error } = JSON.parse(decoder.decode(reply));
	if (error !== undefined) throw new Error(error);
	return value;
}

export async function check(request) {
	const { report, problems } = await ask("check", request);
	return { report, problems };
}

export async function vet(request) {
	const { report, problems } = await ask("vet", request);
	return { report, problems: problems.map(({ message }) => message) };
}

const evaluate = ({ expression, at, ...request }) => ask("eval", { ...request, expr: expression, path: at });
export { evaluate as eval };
