// Adds LICENSES.txt, with the licenses of all packages whose code is in the site.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

const modules = path.join(import.meta.dirname, "node_modules");

function licenseOf(name) {
	const dir = path.join(modules, name);
	const { version, license } = JSON.parse(readFileSync(path.join(dir, "package.json"), "utf8"));
	const file = readdirSync(dir).find((f) => /^licen[cs]e/i.test(f));
	const text = file ? readFileSync(path.join(dir, file), "utf8").trim() : `License: ${license}`;
	return `\n${"=".repeat(72)}\n${name} ${version}\n\n${text}\n`;
}

export const licenses = {
	name: "licenses",
	generateBundle(_, bundle) {
		const ids = Object.values(bundle).flatMap((file) => file.moduleIds ?? []);
		const names = new Set(ids.map((id) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]).filter(Boolean));
		const source = `This site contains these packages.\n${[...names].sort().map(licenseOf).join("")}`;
		this.emitFile({ type: "asset", fileName: "LICENSES.txt", source });
	},
};
