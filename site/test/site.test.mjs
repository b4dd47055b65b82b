// Tries the built site in a headless Chromium.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { launch, openPlayground, patience, serve, site, until } from "./host.mjs";
import { searches } from "./searches.mjs";

const pages = readdirSync(site).filter((name) => name.endsWith(".html")).sort();
const axe = readFileSync(path.join(import.meta.dirname, "../node_modules/axe-core/axe.min.js"), "utf8");
let browser;
let host;
before(async () => {
	browser = await launch();
	host = await serve();
});
after(async () => {
	await browser?.close();
	host?.end();
});

// visit opens a page and waits until its script runs.
async function visit(page, name) {
	await page.goto(host.url + name);
	await until(page, () => document.getElementById("app").__vue_app__ !== undefined);
}

// open opens a page in a tab, runs work on it, and checks that the tab has no error and requests nothing from
// another origin.
async function open(name, work, { width = 1280, height = 900, theme = "light" } = {}) {
	const context = await browser.createBrowserContext();
	const page = await context.newPage();
	const problems = [];
	page.on("request", (r) => new URL(r.url()).origin === new URL(host.url).origin || r.url().startsWith("data:") || problems.push(`request to ${r.url()}`));
	page.on("response", (r) => r.status() >= 400 && problems.push(`${r.status()} ${r.url()}`));
	page.on("pageerror", (err) => problems.push(err.message));
	page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
	try {
		await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: "reduce" }]);
		await page.setViewport({ width, height });
		await visit(page, name);
		const result = await work(page);
		assert.deepEqual(problems, [], name);
		return result;
	} catch (err) {
		err.message += `\n${page.url()}: ${problems.join("; ")}`;
		throw err;
	} finally {
		await context.close();
	}
}

const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

test("no page scrolls horizontally at 390 px", async () => {
	const wide = [];
	await open("index.html", async (page) => {
		for (const name of pages) {
			await visit(page, name);
			if (await overflow(page) > 0) wide.push(name);
		}
	}, { width: 390, height: 844 });
	assert.deepEqual(wide, []);
});

test("no serious accessibility violation, in both themes", async () => {
	const found = [];
	for (const theme of ["light", "dark"]) {
		for (const name of ["index", "install", "tour", "vet", "errors", "playground", "recipes", "concepts"].map((n) => `${n}.html`)) {
			if (!pages.includes(name)) continue;
			await open(name, async (page) => {
				await page.evaluate(axe);
				const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
				for (const v of violations.filter((v) => ["serious", "critical"].includes(v.impact))) found.push(`${name}, ${theme}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html).join(" ")}`);
			}, { theme });
		}
	}
	assert.deepEqual(found, []);
});

test("the menu, the theme, and a link work without loading the page again", async () => {
	await open("index.html", async (page) => {
		await page.evaluate(() => { window.kept = true; });
		await page.click("nav a[href$='tour.html'], .VPNavBarMenu a[href$='tour.html']");
		await until(page, () => document.querySelector("h1")?.textContent.startsWith("The shell"));
		await page.click(".VPNavBarAppearance button");
		assert.ok(await page.evaluate(() => window.kept && document.documentElement.classList.contains("dark")));
	});
	await open("vet.html", async (page) => {
		await page.click(".VPLocalNav .menu");
		await page.waitForSelector(".VPSidebar.open", { timeout: patience });
		assert.equal(await overflow(page), 0);
	}, { width: 390, height: 844 });
});

// find enters a query into the search and returns the links of the results, best first.
async function find(page, query) {
	await page.evaluate(() => sessionStorage.clear()); // the previous query
	await page.keyboard.press("/");
	await page.waitForSelector("#localsearch-input", { timeout: patience });
	await page.$eval("#localsearch-input", (input, query) => {
		input.value = query;
		input.dispatchEvent(new Event("input"));
	}, query);
	await page.waitForSelector("#localsearch-list a.result, .no-results strong", { timeout: patience });
	const links = await page.$$eval("#localsearch-list a.result", (list) => list.map((a) => a.getAttribute("href")));
	await page.keyboard.press("Escape");
	await until(page, () => !document.querySelector("#localsearch-input"));
	return links;
}

test("searches of a newcomer have the right section first", async () => {
	const wrong = [];
	await open("index.html", async (page) => {
		for (const [query, wanted] of searches) {
			const links = (await find(page, query)).map((link) => link.replace(/^.*\//, "").replace(".html", ""));
			if (!wanted.split("|").includes(links[0])) wrong.push(`${query}: got ${links.slice(0, 5).join(" ")}, want ${wanted}`);
		}
	});
	assert.deepEqual(wrong, []);
});

// tries returns the addresses of all examples of the site, each once.
async function tries(page) {
	const found = new Map();
	for (const name of pages.filter((n) => readFileSync(path.join(site, n), "utf8").includes("data-try="))) {
		await visit(page, name);
		await until(page, () => [...document.querySelectorAll("a[data-try]")].every((a) => a.hash));
		for (const link of await page.$$eval("a[data-try]", (list) => list.map((a) => a.href))) if (!found.has(link)) found.set(link, name);
	}
	return found;
}

test("each example opens in the playground and has a verdict", async (t) => {
	const found = await open("index.html", tries);
	t.diagnostic(`${found.size} examples`);
	assert.ok(found.size >= 10);
	const playground = await openPlayground(browser);
	try {
		const failed = [];
		for (const [link, name] of found) {
			const { verdict, vet, notice } = await playground.verdict(new URL(link).hash);
			if (notice || vet === "failed" || verdict === "failed" || (name === "recipes.html" && verdict !== "invalid")) failed.push(`${name}: ${verdict}, ${vet}: ${notice} ${link.slice(0, 100)}`);
		}
		assert.deepEqual(failed, []);
	} finally {
		await playground.close();
	}
});

const engine = existsSync(path.join(site, "playground/celadon.wasm.br"));
test("a click opens an example in the site's playground", { skip: engine ? false : "the site was built without the engine (make site)" }, async () => {
	await open("check.html", async (page) => {
		const [target] = await Promise.all([browser.waitForTarget((t) => t.url().includes("/playground/#v1."), { timeout: patience }), page.click("a[data-try][href*='#v1.']")]);
		const opened = await target.page();
		await until(opened, () => document.documentElement.dataset.verdict !== undefined);
		assert.match(await opened.$eval("#verdict", (e) => e.innerText), /Accepted: CronTab/);
	});
});
