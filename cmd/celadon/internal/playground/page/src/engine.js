// Requests are answered by celadon playground, which serves the page, or by the engine in a Worker.
// Both return the same results.

// patience limits the duration of a request, in milliseconds.
const patience = { find: 60_000, other: 15_000 };

// rest is the time for which an idle Worker is kept, in milliseconds.
const rest = 10_000;

// Failed is an error whose message is for the user. Other errors are mistakes in the page.
export class Failed extends Error {}
export class Stopped extends Failed {}

// reasonOf returns the message of an error for the user.
export function reasonOf(err) {
	if (err instanceof Failed) return err.message;
	console.error(err);
	return "The page has failed. Change something to try again, or reload the page, and please report it.";
}

function valueOf(text) {
	const reply = JSON.parse(text);
	if (reply.error !== undefined) throw new Failed(reply.error);
	return reply.value;
}

function limited(signal, ms, stop) {
	const timer = setTimeout(() => stop(new Stopped(`stopped: it took longer than ${ms / 1000} s`)), ms);
	const abort = () => stop(new Stopped("stopped"));
	signal?.addEventListener("abort", abort);
	return () => {
		clearTimeout(timer);
		signal?.removeEventListener("abort", abort);
	};
}

class Native {
	ready = Promise.resolve();
	busy = false;

	async ask(request, signal) {
		const controller = new AbortController();
		let why;
		const done = limited(signal, (patience[request.do] ?? patience.other) + 1000, (err) => {
			why = err;
			controller.abort();
		});
		try {
			const response = await fetch("answer", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request), signal: controller.signal });
			if (!response.ok) throw new Failed((await response.text()).trim());
			return valueOf(await response.text());
		} catch (err) {
			throw why ?? (err instanceof TypeError ? new Failed("celadon playground does not respond: is it still running?") : err);
		} finally {
			done();
		}
	}
}

// OneWorker is a Worker that is recreated after it was terminated.
class OneWorker {
	#worker;
	#waiting = new Map();
	#last = 0;

	constructor(shared) {
		this.shared = shared; // holds the compiled module once it is available
		this.start();
	}

	start() {
		const worker = new Worker("worker.js");
		this.#worker = worker;
		this.ready = new Promise((resolve, reject) => {
			worker.onmessage = ({ data }) => {
				switch (data.kind) {
					case "progress":
						this.shared.progress?.(data.loaded, data.all);
						break;
					case "module":
						this.shared.module = data.module;
						break;
					case "ready":
						resolve();
						break;
					case "answer":
						this.#waiting.get(data.id)?.resolve(data.text);
						this.#waiting.delete(data.id);
						break;
					case "failed":
						reject(new Failed(data.message));
						this.end(new Failed(data.message));
						this.start();
				}
			};
			worker.onerror = () => reject(new Failed("the engine cannot be loaded"));
		});
		this.ready.catch(() => {});
		worker.postMessage({ kind: "begin", module: this.shared.module });
	}

	// end terminates the Worker and rejects all pending requests.
	end(err) {
		this.#worker.terminate();
		const waiting = [...this.#waiting.values()];
		this.#waiting.clear();
		for (const { reject } of waiting) reject(err);
	}

	async ask(request, signal) {
		await this.ready;
		const id = ++this.#last;
		return new Promise((resolve, reject) => {
			const done = limited(signal, patience[request.do] ?? patience.other, (err) => {
				if (!this.#waiting.has(id)) return;
				this.end(err);
				this.start();
			});
			this.#waiting.set(id, {
				resolve: (text) => { done(); try { resolve(valueOf(text)); } catch (err) { reject(err); } },
				reject: (err) => { done(); reject(err); },
			});
			this.#worker.postMessage({ kind: "ask", id, text: JSON.stringify(request) });
		});
	}
}

// InBrowser has one Worker for requests that the user waits for and another for slow requests. The
// second is created on demand and terminated when idle, because only that frees its memory.
class InBrowser {
	#shared = {};
	#quick = new OneWorker(this.#shared);
	#slow;
	#asked = 0; // pending requests of the slow Worker
	#idle;

	constructor(progress) { this.#shared.progress = progress; }

	get ready() { return this.#quick.ready; }

	async ask(request, signal) {
		if (!["vet", "find", "fix"].includes(request.do)) return this.#quick.ask(request, signal);
		await this.ready;
		clearTimeout(this.#idle);
		this.#slow ??= new OneWorker(this.#shared);
		this.#asked++;
		try {
			return await this.#slow.ask(request, signal);
		} finally {
			if (--this.#asked === 0) this.#idle = setTimeout(() => this.#rest(), rest);
		}
	}

	#rest() {
		this.#slow.end();
		this.#slow = undefined;
	}
}

export const isNative = () => document.documentElement.dataset.engine === "native";
export const newEngine = (progress) => (isNative() ? new Native() : new InBrowser(progress));
