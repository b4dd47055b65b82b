// Where questions are answered: by celadon playground behind the page, or by the
// engine in a Worker. Both have the same answers.

// Patience is how long an answer may take, in milliseconds; then the work is ended.
const patience = { find: 60_000, other: 15_000 };

// rest is how long a Worker is kept that has nothing to do, in milliseconds.
const rest = 10_000;

export class Stopped extends Error {}

function valueOf(text) {
	const reply = JSON.parse(text);
	if (reply.error !== undefined) throw new Error(reply.error);
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
			if (!response.ok) throw new Error((await response.text()).trim());
			return valueOf(await response.text());
		} catch (err) {
			throw why ?? (err instanceof TypeError ? new Error("celadon playground does not answer: is it still running?") : err);
		} finally {
			done();
		}
	}
}

// OneWorker is a Worker that is made again when it was ended.
class OneWorker {
	#worker;
	#waiting = new Map();
	#last = 0;

	constructor(shared) {
		this.shared = shared; // with the compiled module, once it is there
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
						reject(new Error(data.message));
						this.end(new Error(data.message));
						this.start();
				}
			};
			worker.onerror = () => reject(new Error("the engine cannot be loaded"));
		});
		this.ready.catch(() => {});
		worker.postMessage({ kind: "begin", module: this.shared.module });
	}

	// end gives up all that is asked.
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

// InBrowser has a Worker for what a person waits for, and another for what takes long:
// it is made when it is needed, and ended some time after, as nothing else gives its
// memory back.
class InBrowser {
	#shared = {};
	#quick = new OneWorker(this.#shared);
	#slow;
	#asked = 0; // of the slow one, and not answered
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
