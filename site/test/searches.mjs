// Searches of newcomers, each with the page that must come first. If a page does not exist, the next is expected;
// of pages with | between them, any may come first.
export const searches = [
	["immutable field", "recipes", "lints"],
	["cost exceeds budget", "errors|cost"],
	["optionalOldSelf", "concepts", "repl"],
	["message expression", "recipes", "lints"],
	["unique list", "recipes", "lints"],
	["quantity", "recipes", "errors"],
	["kustomize ci", "ci"],
	["upgrade kubernetes", "versions|diff"],
	["admission webhook", "admission"],
	["unknown field", "errors"],
	["install", "install"],
	["vscode", "editors"],
	["go markers", "go-markers"],
	["breaking change", "diff"],
];
