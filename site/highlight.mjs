// Colors for code, with the grammars of the VS Code client, which also find CEL inside YAML and Go.
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./pages.mjs";

const grammar = (name) => JSON.parse(readFileSync(path.join(root, "editors/vscode/syntaxes", `${name}.json`), "utf8"));

export const highlighter = {
	theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
	// Without a limit of time, the colors do not depend on the speed of the machine.
	codeTransformers: [{ preprocess(_, options) { options.tokenizeTimeLimit = 0; } }],
	languages: [
		{ name: "console", scopeName: "text.console", patterns: [{ match: "^\\$ .*$", name: "markup.bold" }] },
		{ ...grammar("cel"), name: "cel" },
		{ ...grammar("yaml"), name: "cel-in-yaml", injectTo: ["source.yaml"], embeddedLangs: ["cel"] },
		{ ...grammar("go"), name: "cel-in-go", injectTo: ["source.go"], embeddedLangs: ["cel"] },
	],
};
