// Builds the page into dist/, which is committed, so that go build needs no npm.
//   npm ci && node build.mjs           writes dist/
//   npm ci && node build.mjs --check   fails if dist/ is out of date
import { build } from "esbuild";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import path from "node:path";

const here = import.meta.dirname;
const examples = path.join(here, "../../../../../examples");

// sources lists the inputs of dist/. Their hashes are in dist/sources.txt, so that a test without
// npm can check that dist/ is up to date.
const sources = [];
async function source(file) {
	const data = await readFile(file);
	sources.push(`${createHash("sha256").update(data).digest("hex")}  ${path.relative(here, file).split(path.sep).join("/")}`);
	return data.toString();
}

// The examples of the page, the easiest first, as listed in src/examples.json with paths in examples/ of the repository.
async function readExamples() {
	const list = JSON.parse(await source(path.join(here, "src/examples.json")));
	for (const example of list) {
		for (const pane of ["crd", "object", "old", "policies"]) example[pane] = example[pane] ? await source(path.join(examples, example[pane])) : "";
	}
	return list;
}

const examplesModule = {
	name: "examples",
	setup(b) {
		b.onResolve({ filter: /^examples$/ }, (args) => ({ path: args.path, namespace: "examples" }));
		b.onLoad({ filter: /.*/, namespace: "examples" }, async () => ({ contents: JSON.stringify(await readExamples()), loader: "json" }));
	},
};

async function licenses(metafile) {
	const packages = new Set();
	for (const input of Object.keys(metafile.inputs)) {
		const found = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
		if (found) packages.add(found[1]);
	}
	let text = "The page of celadon playground contains these packages.\n";
	for (const name of [...packages].sort()) {
		const dir = path.join(here, "node_modules", name);
		const { version } = JSON.parse(await readFile(path.join(dir, "package.json")));
		const file = (await readdir(dir)).find((f) => /^licen[cs]e/i.test(f));
		text += `\n${"=".repeat(72)}\n${name} ${version}\n\n${(await readFile(path.join(dir, file))).toString().trim()}\n`;
	}
	return text;
}

async function bundle() {
	const result = await build({
		absWorkingDir: here,
		entryPoints: { app: "src/main.js", worker: "src/worker.js" },
		bundle: true, minify: true, write: false, metafile: true, outdir: "dist",
		format: "iife", target: ["chrome111", "firefox115", "safari16.4"], charset: "utf8", legalComments: "none",
		plugins: [examplesModule], logLevel: "warning",
	});
	const files = new Map(result.outputFiles.map((f) => [path.basename(f.path), f.text]));
	for (const file of ["index.html", "icon.svg"]) files.set(file, await source(path.join(here, "src", file)));
	for (const file of (await readdir(path.join(here, "src"))).sort()) {
		if (/\.(js|css)$/.test(file)) await source(path.join(here, "src", file));
	}
	for (const file of ["package-lock.json", "package.json", "build.mjs"]) await source(path.join(here, file));
	files.set("LICENSES.txt", await licenses(result.metafile));
	files.set("sources.txt", sources.sort((a, b) => (a.slice(64) < b.slice(64) ? -1 : 1)).join("\n") + "\n");
	return files;
}

const dist = path.join(here, "dist");
const files = await bundle();
if (process.argv.includes("--check")) {
	const there = await readdir(dist);
	const other = [...new Set([...there, ...files.keys()])];
	const bad = [];
	for (const name of other) {
		const is = there.includes(name) ? (await readFile(path.join(dist, name))).toString() : undefined;
		if (is !== files.get(name)) bad.push(name);
	}
	if (bad.length > 0) {
		console.error(`dist/ is not what its sources make (${bad.join(", ")}): run make -C site page`);
		process.exit(1);
	}
	console.log(`dist/ is what its sources make: ${files.size} files`);
} else {
	await rm(dist, { recursive: true, force: true });
	await mkdir(dist);
	for (const [name, text] of files) await writeFile(path.join(dist, name), text);
	console.log([...files].map(([name, text]) => `${name} ${Buffer.byteLength(text)}`).join("\n"));
}
