// Colors for CEL in YAML, and a hanging indent for wrapped lines.
import { syntaxTree } from "@codemirror/language";
import { Prec, RangeSetBuilder } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";

// keys are the keys of expressions in CRDs and admission policies.
const keys = new Set(["rule", "messageExpression", "expression", "valueExpression"]);

const token = /\/\/.*|([rRbB]{0,2}(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))|(\b\d[\w.]*)|([A-Za-z_]\w*)(\s*\()?|(&&|\|\||[=!<>]=|[-+*/%<>!?])/g;
const words = new Set(["self", "oldSelf", "object", "oldObject", "request", "params", "variables", "namespaceObject", "authorizer"]);
const constants = new Set(["true", "false", "null", "in"]);

const colors = Object.fromEntries(["string", "number", "variable", "constant", "function", "operator", "comment"].map((name) => [name, Decoration.mark({ class: `cm-cel-${name}` })]));

function kindOf([whole, string, number, word, call, operator]) {
	if (string !== undefined) return "string";
	if (number !== undefined) return "number";
	if (operator !== undefined) return "operator";
	if (word === undefined) return "comment";
	if (constants.has(word)) return "constant";
	if (words.has(word)) return "variable";
	return call === undefined ? undefined : "function";
}

// expressions calls found with the range of each expression between two offsets.
function expressions(state, from, to, found) {
	syntaxTree(state).iterate({ from, to, enter(node) {
		if (node.name !== "Pair") return;
		const key = node.node.getChild("Key");
		const value = node.node.lastChild;
		if (!key || !value || !keys.has(state.sliceDoc(key.from, key.to).replace(/^["']|["']$/g, ""))) return;
		if (value.name === "Literal") found(value.from, value.to);
		if (value.name === "QuotedLiteral") found(value.from + 1, value.to - 1);
		const block = value.getChild("BlockLiteralContent");
		if (block) found(block.from, block.to);
	} });
}

function colored(view) {
	const ranges = new RangeSetBuilder();
	let last = 0; // ranges must be in order, and visible ranges may share an expression
	for (const visible of view.visibleRanges) {
		expressions(view.state, visible.from, visible.to, (from, to) => {
			if (from < last) return;
			for (const match of view.state.sliceDoc(from, to).matchAll(token)) {
				const kind = kindOf(match);
				const at = from + match.index;
				last = at + match[0].length - (match[4]?.length ?? 0);
				if (kind) ranges.add(at, last, colors[kind]);
			}
		});
	}
	return ranges.finish();
}

const celColors = ViewPlugin.fromClass(class {
	constructor(view) {
		this.tree = syntaxTree(view.state);
		this.decorations = colored(view);
	}
	update(update) {
		const tree = syntaxTree(update.state);
		if (!update.docChanged && !update.viewportChanged && tree === this.tree) return;
		this.tree = tree;
		this.decorations = colored(update.view);
	}
}, { decorations: (plugin) => plugin.decorations });

const celTheme = EditorView.theme({
	".cm-cel-string": { color: "var(--good)" },
	".cm-cel-number, .cm-cel-constant": { color: "var(--warn)" },
	".cm-cel-variable, .cm-cel-operator": { color: "var(--accent)" },
	".cm-cel-function": { color: "var(--key)" },
	".cm-cel-comment": { color: "var(--faint)" },
});

// cel colors the expressions in a pane.
export const cel = [Prec.highest(celColors), celTheme];

// deepest limits the indent of wrapped lines, in columns.
const deepest = 32;
const hangs = Array.from({ length: deepest + 1 }, (_, n) => Decoration.line({ class: `cm-hang-${n}` }));

function hung(view) {
	const lines = new RangeSetBuilder();
	for (const { from, to } of view.visibleRanges) {
		for (let at = from; at <= to;) {
			const line = view.state.doc.lineAt(at);
			const columns = line.text.match(/^[ -]*/)[0].length + 2;
			if (line.length > 40) lines.add(line.from, line.from, hangs[Math.min(columns, deepest)]);
			at = line.to + 1;
		}
	}
	return lines.finish();
}

const hanging = ViewPlugin.fromClass(class {
	constructor(view) { this.decorations = hung(view); }
	update(update) { if (update.docChanged || update.viewportChanged) this.decorations = hung(update.view); }
}, { decorations: (plugin) => plugin.decorations });

// wrapped breaks long lines, with continuation lines indented further than their beginning.
export const wrapped = [
	EditorView.lineWrapping, hanging,
	EditorView.theme(Object.fromEntries(hangs.map((_, n) => [`.cm-hang-${n}`, { textIndent: `-${n}ch`, paddingLeft: `calc(6px + ${n}ch)` }]))),
];
