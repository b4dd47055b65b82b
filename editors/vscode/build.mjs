// Bundles the client and collects the licenses of the bundled packages.
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const allowed = ["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "BlueOak-1.0.0", "0BSD"];

const { metafile } = await build({
  entryPoints: ["extension.js"], bundle: true, platform: "node", target: "node18", external: ["vscode"],
  outfile: "dist/extension.js", minify: true, metafile: true, logLevel: "warning",
});

const folders = new Set();
for (const input of Object.keys(metafile.inputs)) {
  const found = input.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/);
  if (found) folders.add(found[0]);
}
const texts = [...folders].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  if (!allowed.includes(license)) throw new Error(`${name}: license ${license}: want one of ${allowed.join(", ")}`);
  const file = readdirSync(folder).find((f) => /^(licen[cs]e|copying)/i.test(f));
  if (!file) throw new Error(`${name}: no file with its license ${license}`);
  return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync("dist/THIRD_PARTY_LICENSES.txt", texts.join(`\n${"-".repeat(72)}\n\n`));
console.log([...folders].sort().map((f) => f.replace(/^.*node_modules\//, "")).join(" "));
