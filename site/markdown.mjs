// Changes to the pages of docs/, which are written for GitHub: links to files of the repository, and links that
// open examples in the playground.
import { statSync } from "node:fs";
import path from "node:path";
import { exampleOf, exampleOfLink } from "./examples.mjs";
import { docs, root } from "./pages.mjs";

// slug returns the anchor that GitHub makes of a heading.
export const slug = (heading) => heading.trim().toLowerCase().replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, "").replaceAll(" ", "-");

// withRepositoryLinks makes links to files outside docs/, and to pages for maintainers, point to the repository.
export function withRepositoryLinks(md, repository, revision) {
	md.core.ruler.push("repository-links", (state) => {
		for (const token of state.tokens.flatMap((t) => t.children ?? [])) {
			const href = token.type === "link_open" ? token.attrGet("href") : "";
			if (!/^(\.\.|project)\//.test(href)) continue;
			const [, file, anchor] = /^([^#]*)(.*)$/.exec(href);
			const inside = path.relative(root, path.join(docs, decodeURI(file))).split(path.sep).join("/");
			const found = statSync(path.join(root, inside), { throwIfNoEntry: false });
			if (!found) throw new Error(`${state.env.relativePath}: broken link ${href}: there is no such file in the repository`);
			token.attrSet("href", `${repository}/${found.isDirectory() ? "tree" : "blob"}/${revision}/${inside}${anchor}`);
		}
	});
}

// withPictures lets Vite find the pictures of HTML elements, whose paths it expects to start with a dot.
export function withPictures(md) {
	for (const type of ["html_block", "html_inline"]) {
		const rule = md.renderer.rules[type];
		md.renderer.rules[type] = (...args) => rule(...args).replace(/(<img [^>]*src=")(?=[\w-]+\.)/g, "$1./");
	}
}

// withBraces keeps Vue from evaluating double braces in text and code.
export function withBraces(md) {
	for (const type of ["text", "code_inline"]) {
		const rule = md.renderer.rules[type];
		md.renderer.rules[type] = (...args) => rule(...args).replaceAll("{{", "&#123;&#123;");
	}
}

// withExamples adds a link to each example that the playground can open. A few lines of the theme put the
// example into the link.
export function withExamples(md, base) {
	const link = (example) => `<a class="try" href="${base}playground/" target="_blank" rel="noopener" data-try="${md.utils.escapeHtml(JSON.stringify(example))}" v-pre>Try it in the playground</a>\n`;
	const { fence } = md.renderer.rules;
	md.renderer.rules.fence = (tokens, index, ...rest) => {
		const example = exampleOf(tokens, index);
		return fence(tokens, index, ...rest) + (example ? link(example) : "");
	};
	md.core.ruler.before("repository-links", "linked-examples", (state) => {
		state.tokens = state.tokens.flatMap((token, i) => {
			const links = token.type === "paragraph_close" ? state.tokens[i - 1].children.filter((t) => t.type === "link_open") : [];
			const example = links.map((t) => exampleOfLink(t.attrGet("href"))).find(Boolean);
			return example ? [token, Object.assign(new state.Token("html_block", "", 0), { content: link(example) })] : [token];
		});
	});
}
