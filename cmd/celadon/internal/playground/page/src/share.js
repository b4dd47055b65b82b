// The whole state of the page in the fragment of a link, which no server is sent: JSON,
// deflated, in base64url. A link may come from anybody.

export const panes = ["crd", "object", "old"];
const version = "v1.";
export const longest = 8_000; // characters of a link that most programs pass on whole
const mostText = 6 << 20; // of a state, in characters: far more than a server takes

async function through(stream, bytes, most) {
	const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
	const parts = [];
	let size = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) break;
		if ((size += value.length) > most) {
			reader.cancel().catch(() => {});
			throw new Error("it holds more than a page should");
		}
		parts.push(value);
	}
	return new Uint8Array(await new Blob(parts).arrayBuffer());
}

export async function encode(state) {
	const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(state)), Infinity);
	let text = "";
	for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
	return version + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// decode reads a fragment. What is wrong with it is an Error in words.
export async function decode(fragment) {
	if (!fragment.startsWith(version)) throw new Error("it is of no version that this page knows");
	const text = fragment.slice(version.length);
	if (!/^[\w-]*$/.test(text)) throw new Error("it has characters that no link has: was it cut or changed on the way?");
	let json;
	try {
		const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
		json = new TextDecoder("utf-8", { fatal: true }).decode(await through(new DecompressionStream("deflate-raw"), bytes, mostText));
	} catch (err) {
		throw err.message?.startsWith("it holds") ? err : new Error("it is damaged: was it cut off on the way?");
	}
	return parse(json);
}

// parse reads a state as JSON, from a link or a file.
export function parse(json) {
	let value;
	try {
		value = JSON.parse(json);
	} catch {
		throw new Error("it is damaged: what is in it is no JSON");
	}
	const state = {};
	for (const name of [...panes, "kubeVersion", "subresource"]) {
		const text = value?.[name] ?? "";
		if (typeof text !== "string") throw new Error(`it is damaged: ${name} is no text`);
		state[name] = text;
	}
	if (panes.reduce((n, pane) => n + state[pane].length, 0) > mostText) throw new Error("it holds more than a page should");
	return state;
}
