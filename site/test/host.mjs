// A web server for the built site, and a headless Chromium, which CELADON_BROWSER names.
import puppeteer from "puppeteer-core";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";

export const site = path.resolve(process.env.CELADON_SITE ?? path.join(import.meta.dirname, "../../bin/site"));
if (!existsSync(path.join(site, "index.html"))) throw new Error(`${site} holds no site: build it with node build.mjs ${site}, or set CELADON_SITE`);

export const patience = Number(process.env.CELADON_PATIENCE ?? 120_000);

// until waits until a condition holds on a page.
export const until = (page, condition, ...args) => page.waitForFunction(condition, { timeout: patience, polling: 50 }, ...args);

export const launch = () => puppeteer.launch({
	executablePath: process.env.CELADON_BROWSER ?? "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu", "--disable-extensions", "--disable-background-networking"], protocolTimeout: 3 * patience, timeout: 3 * patience,
});

const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png", ".json": "application/json" };

// serve starts the server and returns its address, which ends with a slash.
export async function serve() {
	const server = http.createServer(async (request, response) => {
		try {
			const name = path.normalize(new URL(request.url, "http://host").pathname).replace(/\/$/, "/index.html");
			const data = await readFile(path.join(site, name));
			response.writeHead(200, { "Content-Type": types[path.extname(name)] ?? "application/octet-stream", "Content-Length": data.length });
			response.end(data);
		} catch {
			response.writeHead(404).end();
		}
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	return { url: `http://127.0.0.1:${server.address().port}/`, end: () => server.close() };
}

// openPlayground opens the page of celadon playground (CELADON, the command), which is faster than an engine in
// the browser. verdict opens an example by the fragment of its link.
export async function openPlayground(browser) {
	const celadon = process.env.CELADON ?? path.join(import.meta.dirname, "../../bin/celadon");
	const child = spawn(celadon, ["playground"], { stdio: ["ignore", "pipe", "ignore"] });
	const [address] = await once(child.stdout, "data");
	const context = await browser.createBrowserContext();
	const page = await context.newPage();
	page.on("dialog", (dialog) => dialog.accept());
	await page.goto(address.toString().trim());
	return {
		async verdict(fragment) {
			await page.evaluate((fragment) => {
				delete document.documentElement.dataset.verdict;
				location.hash = fragment;
			}, fragment);
			await until(page, () => document.documentElement.dataset.verdict !== undefined && document.getElementById("busy").hidden);
			return page.evaluate(() => ({ ...document.documentElement.dataset, notice: document.getElementById("notice").textContent }));
		},
		async close() {
			await context.close();
			child.kill();
		},
	};
}
