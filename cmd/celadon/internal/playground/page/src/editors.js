// The three editors. Each is in a shadow root, where CodeMirror can adopt its style sheets even under
// a strict Content-Security-Policy.
import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState } from "@codemirror/state";
import { EditorView, crosshairCursor, drawSelection, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { wrapped } from "./cel.js";

const colours = HighlightStyle.define([
	{ tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--key)" },
	{ tag: [tags.string, tags.special(tags.string), tags.content], color: "var(--text)" },
	{ tag: [tags.comment, tags.lineComment], color: "var(--faint)" },
	{ tag: [tags.keyword, tags.meta, tags.typeName, tags.labelName], color: "var(--accent)" },
	{ tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "var(--faint)" },
]);

const look = EditorView.theme({
	"&": { height: "100%", color: "var(--text)", backgroundColor: "var(--paper)", fontSize: "13px" },
	"&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
	".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
	".cm-content": { caretColor: "var(--text)", paddingBlock: "8px" },
	".cm-cursor": { borderLeftColor: "var(--text)" },
	".cm-gutters": { backgroundColor: "var(--paper)", color: "var(--faint)", border: "none" },
	".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--line)" },
	"&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--selection) !important" },
	".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--border)", borderRadius: "6px", maxWidth: "min(560px, 90vw)", overflow: "hidden" },
	".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)" },
	".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--accent-fill)", color: "var(--on-accent)" },
	".cm-completionDetail": { color: "inherit", opacity: "0.85", fontStyle: "normal", marginLeft: "1.5em" },
	".cm-tooltip.cm-tooltip-hover": { padding: "0", maxHeight: "min(320px, 50vh)", overflowY: "auto", overflowWrap: "anywhere" },
	".cm-hover": { padding: "8px 10px", whiteSpace: "pre-wrap", font: "13px/1.45 var(--sans)" },
	".cm-hover b": { fontFamily: "var(--mono)" },
	".cm-diagnostic": { borderLeftWidth: "3px", whiteSpace: "pre-wrap" },
	".cm-diagnosticAction": { backgroundColor: "var(--accent-fill)", color: "var(--on-accent)", borderRadius: "4px" },
	".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)" },
	".cm-textfield, .cm-button": { color: "var(--text)", background: "var(--paper)", borderColor: "var(--border)" },
	".cm-foldPlaceholder": { background: "var(--line)", color: "var(--text)", border: "none" },
	".cm-flash": { backgroundColor: "var(--mark)" },
	".cm-matchingBracket": { backgroundColor: "var(--mark) !important" },
});

// newEditor calls changed after each change of a person.
export function newEditor(host, label, changed, extensions = []) {
	const root = host.attachShadow({ mode: "open" });
	const parent = document.createElement("div");
	parent.style.height = "100%";
	root.append(parent);
	return new EditorView({
		root, parent,
		state: EditorState.create({
			extensions: [
				lineNumbers(), foldGutter(), codeFolding(), lintGutter(), history(), drawSelection(), highlightSpecialChars(), crosshairCursor(),
				highlightActiveLine(), indentOnInput(), bracketMatching(), closeBrackets(), highlightSelectionMatches(),
				EditorState.tabSize.of(2), yaml(), syntaxHighlighting(colours), look, wrapped,
				// Tab is not bound: it leaves the editor, as everywhere on the page.
				keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
				EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", autocapitalize: "off", spellcheck: "false" }),
				EditorView.updateListener.of((update) => update.docChanged && changed(update)),
				...extensions,
			],
		}),
	});
}

export const textOf = (editor) => editor.state.doc.toString();

export function setText(editor, text) {
	if (textOf(editor) !== text) editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
}

// offset returns the offset of a line and column of a report, which count characters from 1.
export function offset(editor, line, column) {
	const { doc } = editor.state;
	const at = doc.line(Math.max(1, Math.min(line, doc.lines)));
	let n = 0;
	for (const char of at.text) {
		if (--column < 1) break;
		n += char.length;
	}
	return at.from + n;
}

export function go(editor, line, column = 1) {
	const at = offset(editor, line, column);
	editor.dispatch({ selection: EditorSelection.cursor(at), effects: EditorView.scrollIntoView(at, { y: "center" }) });
	editor.focus();
}

// mark shows findings: { line, column, severity, message, actions }, or with a range { from, to }.
export function mark(editor, findings) {
	const { length } = editor.state.doc;
	const diagnostics = findings.filter((f) => f.to !== undefined || f.line > 0).map((f) => {
		if (f.to !== undefined) return { ...f, from: Math.min(f.from, length), to: Math.min(f.to, length) };
		const from = offset(editor, f.line, f.column || 1);
		const rest = editor.state.doc.lineAt(from).to;
		const word = editor.state.sliceDoc(from, rest).match(/^[^\s:,\]}]+/)?.[0].length ?? 0;
		return { from, to: Math.max(from, f.column ? from + word : rest), severity: f.severity, message: f.message, actions: f.actions };
	});
	editor.dispatch(setDiagnostics(editor.state, diagnostics.sort((a, b) => a.from - b.from)));
}
