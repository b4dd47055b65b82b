// The Worker that runs the engine: it receives or fetches the module and then answers requests in
// order. The page may terminate it at any time.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// compressed returns the module in the best format that the browser can decompress in JavaScript, so
// that the host needs no configuration.
async function compressed() {
	let why = "this browser cannot decompress the engine: use a browser of 2023 or later";
	for (const [format, name] of [["brotli", "celadon.wasm.br"], ["gzip", "celadon.wasm.gz"]]) {
		let decompress;
		try {
			decompress = new DecompressionStream(format);
		} catch {
			continue;
		}
		const response = await fetch(name);
		if (!response.ok) {
			why = `${name}: ${response.status}`;
			continue;
		}
		const all = Number(response.headers.get("Content-Length")) || 0;
		let loaded = 0;
		let told = 0;
		const counted = new TransformStream({
			transform(chunk, to) {
				loaded += chunk.length;
				if (loaded - told > 1 << 20) postMessage({ kind: "progress", loaded: (told = loaded), all });
				to.enqueue(chunk);
			},
		});
		return response.body.pipeThrough(counted).pipeThrough(decompress);
	}
	throw new Error(why);
}

self.celadonReady = () => postMessage({ kind: "ready" });

self.onmessage = async ({ data }) => {
	if (data.kind === "ask") {
		self.celadon(encoder.encode(data.text), (bytes) => postMessage({ kind: "answer", id: data.id, text: decoder.decode(bytes) }));
		return;
	}
	try {
		importScripts("wasm_exec.js");
		let module = data.module;
		if (!module) {
			module = await WebAssembly.compileStreaming(new Response(await compressed(), { headers: { "Content-Type": "application/wasm" } }));
			postMessage({ kind: "module", module });
		}
		const go = new Go();
		const instance = await WebAssembly.instantiate(module, go.importObject);
		self.celadonMemory = () => instance.exports.mem.buffer.byteLength;
		await go.run(instance);
		throw new Error("the engine has ended");
	} catch (err) {
		postMessage({ kind: "failed", message: String(err?.message ?? err) });
	}
};
