// The search of the site, which runs in the browser. The functions of options are also sent there as source, so
// they must not use anything outside of them.

// tokenize splits text into words. It adds the parts of names such as messageExpression.
function tokenize(text) {
	return text.split(/[\n\r\p{Z}\p{P}\p{S}]+/u).flatMap((word) => {
		const parts = word.split(/(?<=[a-z])(?=[A-Z])/);
		return parts.length > 1 ? [word, ...parts] : [word];
	});
}

// tokenizeQuery splits a query into words. It adds each two words as one, so that message expression also finds
// messageExpression.
function tokenizeQuery(text) {
	const words = text.split(/[\n\r\p{Z}\p{P}\p{S}]+/u).filter(Boolean);
	return [...words, ...words.slice(1).map((word, i) => words[i] + word)];
}

// boostDocument puts recipes before other pages.
const boostDocument = (id) => (id.includes("/recipes.html") ? 1.5 : 1);

// processTerm removes endings, so that upgrade also finds upgrading and upgrades.
function processTerm(term) {
	const word = term.toLowerCase();
	return word.length > 4 ? word.replace(/(?:ing|ed|es|s|e)$/, "") : word;
}

export const searching = {
	provider: "local",
	options: {
		miniSearch: {
			options: { tokenize, processTerm },
			searchOptions: { tokenize: tokenizeQuery, boostDocument, prefix: true, fuzzy: 0.1, boost: { title: 6, titles: 3, text: 1 } },
		},
		// _render leaves labels and links of code blocks out of the index.
		_render(source, env, md) {
			const html = md.render(source, env);
			if (env.frontmatter?.search === false) return "";
			return html.replace(/<span class="lang">[^<]*<\/span>/g, "").replace(/<a class="try"[^]*?<\/a>/g, "");
		},
	},
};
