// Builds the site into a folder: node build.mjs OUT
//
// VitePress reads the pages of one folder, so they are first copied into .pages, next to the home page. Other
// files of docs/ are published unchanged, because pages link to them.
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "vitepress";
import { docs, root } from "./pages.mjs";

const here = import.meta.dirname;
const staged = path.join(here, ".pages");
const page = path.join(root, "cmd/celadon/internal/playground/page/src");

rmSync(staged, { recursive: true, force: true });
mkdirSync(path.join(staged, "public"), { recursive: true });
for (const entry of readdirSync(docs, { withFileTypes: true })) {
	if (!entry.isFile() || entry.name.endsWith(".go")) continue;
	cpSync(path.join(docs, entry.name), path.join(staged, /\.(md|png|svg)$/.test(entry.name) ? "" : "public", entry.name));
}
cpSync(path.join(here, "home.md"), path.join(staged, "index.md"));
cpSync(path.join(page, "icon.svg"), path.join(staged, "public/icon.svg"));

const out = path.resolve(process.argv[2] ?? path.join(root, "bin/site"));
rmSync(out, { recursive: true, force: true });
await build(here, { outDir: out });

// The playground's page. make site adds its engine. Its help links to the pages next to it instead of the repository.
cpSync(path.join(page, "../dist"), path.join(out, "playground"), { recursive: true });
const help = path.join(out, "playground/index.html");
writeFileSync(help, readFileSync(help, "utf8").replace(/https:\/\/github\.com\/celadon-cel\/celadon\/blob\/main\/docs\/([\w-]+)\.md/g, "../$1.html"));
