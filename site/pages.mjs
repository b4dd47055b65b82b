// The pages of the site: every docs/*.md, in groups. Pages that do not exist yet are left out.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

export const root = path.join(import.meta.dirname, "..");
export const docs = path.join(root, "docs");

// groups lists each page of docs/ once, in the order of the sidebar. A string after a page's name replaces
// its heading in the sidebar.
const groups = [
	["Start", ["which-command", "install", "tour", "playground", "concepts", "compared"]],
	["Write rules", ["functions", "recipes", "cost", "errors", "lints", "vet", "find", "test", "repl", "editors", "go-markers", "explain"]],
	["Check objects", ["check", "builtin", "policies", "ci", "cluster"]],
	["Upgrade", ["versions", "kubernetes-1.38", "diff", "convert"]],
	["Embed", ["embedding"]],
	["Operate", ["admission", "speed", "security"]],
];

const names = readdirSync(docs).filter((f) => f.endsWith(".md")).map((f) => f.slice(0, -3)).sort();

// titleOf returns the heading of a page, without the explanation after its colon.
function titleOf(name) {
	const heading = /^# (.+)$/m.exec(readFileSync(path.join(docs, `${name}.md`), "utf8"));
	if (!heading) throw new Error(`docs/${name}.md: no heading: start the page with "# Title"`);
	return heading[1].replaceAll("`", "").replace(/:.*/, "");
}

// sidebar returns the groups with the pages that exist. It throws an error if a page is in no group.
export function sidebar() {
	const listed = new Set(groups.flatMap(([, pages]) => pages));
	const missing = names.filter((name) => !listed.has(name));
	if (missing.length > 0) throw new Error(`docs/${missing[0]}.md is in no group of the sidebar: add it to groups in site/pages.mjs`);
	return groups.map(([text, pages]) => ({
		text,
		items: pages.filter((name) => names.includes(name)).map((name) => ({ text: titleOf(name), link: `/${name}` })),
	}));
}

// release returns the version of the site and the git revision that its links to files use, from the newest
// section of CHANGELOG.md.
export function release() {
	const [, version, note] = /^## (v\S+)\n+(.*)/m.exec(readFileSync(path.join(root, "CHANGELOG.md"), "utf8"));
	const released = !note.startsWith("Not released");
	return { name: released ? version : `${version} (not released)`, revision: released ? version : "main" };
}
