// Completion, hover, and fixes for the rules of the CRD.
import { autocompletion } from "@codemirror/autocomplete";
import { hoverTooltip } from "@codemirror/view";
import { h } from "./dom.js";

// quietly returns null instead of an error, for example if the request was aborted.
async function quietly(page, request) {
	try {
		return await page.ask(request);
	} catch {
		return null;
	}
}

export function assist(page) {
	const complete = async (context) => {
		const before = context.matchBefore(/[\w.'"]+/);
		if (!context.explicit && (!before || context.state.doc.lineAt(context.pos).text.trimStart().startsWith("#"))) return null;
		const answer = await quietly(page, { do: "complete", at: context.pos });
		if (!answer || context.aborted || answer.options.length === 0) return null;
		return {
			from: answer.from,
			options: answer.options.map((o, i) => ({ label: o.label, apply: o.insert, detail: o.hint, type: o.class, boost: -i / 1000 })),
			validFor: /^\w*$/,
		};
	};
	const hover = hoverTooltip(async (view, pos) => {
		const answer = await quietly(page, { do: "hover", at: pos });
		if (!answer) return null;
		return { pos: answer.from, end: answer.to, above: true, create: () => ({ dom: h("div", { class: "cm-hover" }, h("b", {}, answer.lines[0] ?? ""), answer.lines.length > 1 && "\n" + answer.lines.slice(1).join("\n")) }) };
	});
	return [autocompletion({ override: [complete], interactionDelay: 50 }), hover];
}

// mendsOf returns actions that fix the problems of the expression at an offset.
export async function mendsOf(page, editor, at) {
	const asked = editor.state.doc;
	const problems = await quietly(page, { do: "mends", at });
	return (problems ?? []).map((p) => ({
		from: p.from, to: p.to, kind: p.kind, problem: p.message, message: [p.message, p.words].filter(Boolean).join("\n"),
		actions: p.mends.map((m) => ({
			name: m.title,
			apply: (view) => view.state.doc.eq(asked) && view.dispatch({ changes: m.edits.map((e) => ({ from: e.from, to: e.to, insert: e.text })) }),
		})),
	}));
}
