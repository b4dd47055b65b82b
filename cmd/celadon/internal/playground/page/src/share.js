// The state of the page in the fragment of a link, which browsers do not send to servers: JSON,
// deflated, in base64url. Links are untrusted.

export const panes = ["crd", "object", "old", "policies"];
const version = "v1.";
export const longest = 8_000; // characters of a link that most programs do not truncate
const mostText = 6 << 20; // of a state, in characters: far more than an API server accepts

async function through(stream, bytes, most) {
	const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
	const parts = [];
	let size = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) break;
		if ((size += value.length) > most) {
			reader.cancel().catch(() => {});
			throw new Error("it holds too much data");
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

// decode reads a fragment. It throws an Error with a message for the user.
export async function decode(fragment) {
	if (!fragment.startsWith(version)) throw new Error("its version is not supported by this page");
	const text = fragment.slice(version.length);
	if (!/^[\w-]*$/.test(text)) throw new Error("it has invalid characters: was it truncated or changed?");
	let json;
	try {
		const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
		json = new TextDecoder("utf-8", { fatal: true }).decode(await through(new DecompressionStream("deflate-raw"), bytes, mostText));
	} catch (err) {
		throw err.message?.startsWith("it holds") ? err : new Error("it is damaged: was it truncated?");
	}
	return parse(json);
}

// parse reads a state as JSON, from a link or a file.
export function parse(json) {
	let value;
	try {
		value = JSON.parse(json);
	} catch {
		throw new Error("it is damaged: its content is not JSON");
	}
	const state = {};
	for (const name of [...panes, "kubeVersion", "subresource"]) {
		const text = value?.[name] ?? "";
		if (typeof text !== "string") throw new Error(`it is damaged: ${name} is not a string`);
		state[name] = text;
	}
	if (panes.reduce((n, pane) => n + state[pane].length, 0) > mostText) throw new Error("it holds too much data");
	return state;
}
