// Checks the links of the built site: pages, anchors, files, and files of the repository.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { slug } from "../markdown.mjs";
import { docs, root } from "../pages.mjs";
import { site } from "./host.mjs";

const base = process.env.SITE_BASE ?? "/";
const repository = /^https:\/\/github\.com\/celadon-cel\/celadon\/(?:blob|tree|edit)\/[^/]+\/([^#]+)#?(.*)$/;
const pages = readdirSync(site).filter((name) => name.endsWith(".html")).sort();
const unescape = (text) => text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
const values = (html, names) => [...html.matchAll(new RegExp(`<[a-z][^>]*? (?:${names})="([^"]*)"`, "g"))].map((m) => unescape(m[1]));
const htmlOf = new Map(pages.map((name) => [name, readFileSync(path.join(site, name), "utf8")]));
const idsOf = new Map(pages.map((name) => [name, new Set(values(htmlOf.get(name), "id"))]));
const linksOf = (name) => [...values(htmlOf.get(name), "href"), ...values(htmlOf.get(name), "src")];

// anchorsOf returns the anchors that GitHub makes of the headings of a Markdown file.
const anchorsOf = (file) => new Set([...readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm)].map((m) => slug(m[1])));

// problemOf returns the problem of a link of a page, or "".
function problemOf(page, link) {
	const inRepository = repository.exec(link);
	if (inRepository) {
		const file = path.join(root, inRepository[1]);
		if (!existsSync(file)) return "no such file in the repository";
		return inRepository[2] && file.endsWith(".md") && !anchorsOf(file).has(inRepository[2]) ? "no such heading in the file" : "";
	}
	const { origin, pathname, hash } = new URL(link, `http://site${base}${page}`);
	if (origin !== "http://site") return /^https:$|^mailto:$/.test(new URL(link).protocol) ? "" : "not HTTPS";
	if (/\/v[\d.]+\/$/.test(pathname) && pathname !== base) return ""; // another version
	if (!pathname.startsWith(base)) return base.startsWith(pathname) ? "" : "outside the site";
	const name = decodeURIComponent(pathname.slice(base.length)).replace(/(^|\/)$/, "$1index.html");
	if (!existsSync(path.join(site, name))) return "no such page or file";
	return hash && idsOf.has(name) && !idsOf.get(name).has(decodeURIComponent(hash.slice(1))) ? "no such anchor" : "";
}

test("no link is broken", (t) => {
	const broken = [];
	let checked = 0;
	for (const page of pages) {
		for (const link of new Set(linksOf(page))) {
			checked++;
			const problem = problemOf(page, link);
			if (problem) broken.push(`${page}: ${link}: ${problem}`);
		}
	}
	t.diagnostic(`${checked} links on ${pages.length} pages`);
	assert.deepEqual(broken, [], "fix the links in docs/ or site/home.md");
});

test("the home page leads to every page of docs/", () => {
	const wanted = readdirSync(docs).filter((name) => name.endsWith(".md")).map((name) => name.replace(/\.md$/, ".html"));
	const found = new Set(["index.html"]);
	for (const page of found) {
		for (const link of linksOf(page)) {
			const { origin, pathname } = new URL(link, `http://site${base}${page}`);
			const name = pathname.slice(base.length);
			if (origin === "http://site" && htmlOf.has(name)) found.add(name);
		}
	}
	assert.deepEqual(wanted.filter((name) => !found.has(name)), []);
});
