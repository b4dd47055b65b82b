// Opening, dropping, and saving files.
import { $ } from "./dom.js";
import { panes, parse } from "./share.js";

const most = 4 << 20;

export function save(name, text, type = "application/yaml") {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(new Blob([text], { type }));
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// paneOf returns the pane for a text, by the kind of its documents.
function paneOf(text) {
	const kind = (name) => new RegExp(`^\\s*["']?kind["']?\\s*:\\s*["']?${name}`, "m").test(text);
	if (kind("CustomResourceDefinition")) return "crd";
	return kind("(Validating|Mutating)AdmissionPolicy") ? "policies" : "object";
}

// read loads files into panes: a saved state into all of them, a CRD and policies into
// their panes, and any other file into the pane on which it was dropped, or the object's.
export async function read(files, page, pane) {
	for (const file of files) {
		if (file.size > most) throw new Error(`${file.name}: more than ${most >> 20} MiB`);
		const text = await file.text();
		if (/^\s*\{/.test(text) && /"crd"\s*:/.test(text.slice(0, 1000))) page.take(parse(text));
		else page.set(pane ?? paneOf(text), text);
	}
}

// acceptFiles lets the user choose files or drop them anywhere on the page.
export function acceptFiles(page) {
	const take = (files, pane) => read(files, page, pane).catch((err) => page.notice(err.message));
	$("open").addEventListener("click", () => $("files").click());
	$("files").addEventListener("change", async () => {
		await take([...$("files").files]);
		$("files").value = "";
	});
	addEventListener("dragover", (event) => event.preventDefault());
	addEventListener("drop", (event) => {
		if (!event.dataTransfer?.files.length) return;
		event.preventDefault();
		const pane = event.target.closest?.(".pane")?.id.slice("pane-".length);
		take([...event.dataTransfer.files], panes.includes(pane) ? pane : undefined);
	}, true);
}
