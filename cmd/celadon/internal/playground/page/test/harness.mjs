// Drives the page in a headless Chromium, which CELADON_BROWSER names, with the engine
// behind it (CELADON, the command) or in it (CELADON_SITE, what make site builds).
import puppeteer from "puppeteer-core";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, readdir } from "node:fs/promises";
import http from "node:http";
import path from "node:path";

const root = path.join(import.meta.dirname, "../../../../../..");
export const celadon = process.env.CELADON ?? path.join(root, "bin/celadon");
export const siteDir = process.env.CELADON_SITE ?? path.join(root, "bin/site/playground"); // "" if it does not exist
export const long = process.env.CELADON_LEVEL === "long";
export const example = (name) => readFile(path.join(root, "examples", name), "utf8");
export const slow = Number(process.env.CELADON_PATIENCE ?? 60_000);

export const launch = () => puppeteer.launch({
	executablePath: process.env.CELADON_BROWSER ?? "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu", "--disable-extensions", "--disable-background-networking"], protocolTimeout: 3 * slow, timeout: 3 * slow,
});

// engines lists the hosts of the page: { name, url, end, pid }.
export async function native(...args) {
	const child = spawn(celadon, ["playground", ...args], { stdio: ["ignore", "pipe", "ignore"] });
	process.once("exit", () => child.kill());
	const [address] = await once(child.stdout, "data");
	return { name: "native", url: address.toString().trim(), pid: child.pid, end: () => child.kill() };
}

const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".txt": "text/plain" };

// inBrowser starts a minimal web server for the page.
export async function inBrowser() {
	const server = http.createServer(async (request, response) => {
		try {
			const name = path.normalize(new URL(request.url, "http://host").pathname).replace(/\/$/, "/index.html");
			const data = await readFile(path.join(siteDir, name));
			response.writeHead(200, { "Content-Type": types[path.extname(name)] ?? "application/octet-stream", "Content-Length": data.length });
			response.end(data);
		} catch {
			response.writeHead(404).end();
		}
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	return { name: "in the browser", url: `http://127.0.0.1:${server.address().port}/`, end: () => server.close() };
}

// open opens the page. seen records its requests and errors.
export async function open(browser, at, { fragment = "", width = 1440, height = 900, wait = true } = {}) {
	const context = await browser.createBrowserContext();
	const page = await context.newPage();
	const seen = { requests: [], errors: [] };
	const record = (target) => target.on("request", (r) => seen.requests.push({ method: r.method(), url: r.url(), body: r.postData() ?? "" }));
	record(page);
	page.on("pageerror", (err) => seen.errors.push(err.message));
	page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
	await page.setViewport({ width, height });
	await page.goto(at.url + fragment);
	if (wait) await settled(page);
	return { page, seen, close: () => context.close() };
}

// settled waits until all results are shown.
export const settled = (page) => page.waitForFunction(() => document.documentElement.dataset.vet !== undefined && document.getElementById("busy").hidden, { timeout: slow });

const focus = (page, pane) => page.evaluate((pane) => {
	document.querySelector("main").dataset.shown = pane;
	document.getElementById(`editor-${pane}`).shadowRoot.querySelector(".cm-content").focus();
}, pane);

async function control(page, key) {
	await page.keyboard.down("Control");
	await page.keyboard.press(key);
	await page.keyboard.up("Control");
}

// set replaces the text of a pane, as a paste does, and waits for the results.
export async function set(page, pane, text, wait = true) {
	await page.evaluate(() => delete document.documentElement.dataset.verdict);
	await focus(page, pane);
	await control(page, "a");
	if (text === "") await page.keyboard.press("Delete");
	else {
		await page.evaluate((pane, text) => {
			const data = new DataTransfer();
			data.setData("text/plain", text);
			document.getElementById(`editor-${pane}`).shadowRoot.querySelector(".cm-content").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true, composed: true }));
		}, pane, text);
	}
	if (wait) await page.waitForFunction(() => document.documentElement.dataset.verdict !== undefined && document.getElementById("busy").hidden, { timeout: slow });
}

// type puts the cursor at the end of a line of a pane, from 0, and types a text there.
export async function type(page, pane, line, text) {
	await focus(page, pane);
	await control(page, "Home");
	for (let i = 0; i < line; i++) await page.keyboard.press("ArrowDown");
	await page.keyboard.press("End");
	await page.keyboard.type(text);
}

// textIn returns the text of a pane, as far as the editor has drawn it.
export const textIn = (page, pane) => page.evaluate((pane) => [...document.getElementById(`editor-${pane}`).shadowRoot.querySelectorAll(".cm-line")].map((l) => l.textContent).join("\n"), pane);

export const words = (page, selector) => page.$eval(selector, (e) => e.innerText);

// choose chooses an example by a part of its title.
export async function choose(page, title) {
	await page.evaluate((title) => {
		delete document.documentElement.dataset.vet;
		const chooser = document.getElementById("examples");
		chooser.value = [...chooser.options].find((o) => o.text.includes(title)).value;
		chooser.dispatchEvent(new Event("change"));
	}, title);
	await settled(page);
}

// reset clears options of the page, and waits for the results.
export async function reset(page, ...ids) {
	await page.evaluate((ids) => {
		delete document.documentElement.dataset.vet;
		for (const option of ids.map((id) => document.getElementById(id))) {
			option.value = "";
			option.dispatchEvent(new Event("change"));
		}
	}, ids);
	await settled(page);
}

// press clicks the visible button with a text, as soon as there is one.
export async function press(page, selector, text) {
	const visible = (selector, text) => [...document.querySelectorAll(selector)].find((b) => b.textContent.includes(text) && b.offsetParent);
	const found = await page.waitForFunction(visible, { timeout: slow }, selector, text).catch(() => null);
	if (!found) throw new Error(`no ${selector} with the text ${text}`);
	await found.click();
}

// cpu returns the processor time of processes and their descendants, in milliseconds.
export async function cpu(...pids) {
	const parents = new Map();
	for (const pid of await readdir("/proc")) {
		if (!/^\d+$/.test(pid)) continue;
		const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
		if (text) parents.set(Number(pid), Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]));
	}
	const below = (pid) => pids.includes(pid) || (parents.has(pid) && below(parents.get(pid)));
	const times = await Promise.all([...parents.keys()].filter(below).map(spent));
	return times.reduce((sum, time) => sum + time, 0);
}

// spent returns the processor time of a process's threads. stat has a resolution of 10 ms.
async function spent(pid) {
	const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
	const times = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8").catch(() => "0")));
	return times.reduce((sum, text) => sum + Number(text.split(" ")[0]) / 1e6, 0);
}
