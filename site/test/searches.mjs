// What newcomers search for, and the page that should come first. If a page does not exist, the next is expected.
export const searches = [
	["immutable field", "recipes", "lints"],
	["cost exceeds budget", "cost"],
	["optionalOldSelf", "concepts", "repl"],
	["message expression", "functions", "lints"],
	["unique list", "recipes", "lints"],
	["quantity", "functions", "tour"],
	["kustomize ci", "ci"],
	["upgrade kubernetes", "upgrading", "diff"],
	["admission webhook", "admission"],
	["unknown field", "errors"],
	["install", "install"],
	["vscode", "editors"],
	["go markers", "go-markers"],
	["breaking change", "diff"],
	["embed in go", "embedding"],
];
