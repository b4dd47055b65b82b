// The default theme with the fonts of the system, and links that open examples in the playground.
import { onContentUpdated } from "vitepress";
import theme from "vitepress/theme-without-fonts";
import { encode } from "../../../cmd/celadon/internal/playground/page/src/share.js";
import "./style.css";

async function fillLinks() {
	for (const link of document.querySelectorAll("a[data-try]")) {
		const state = await encode(JSON.parse(link.dataset.try));
		link.href = `${link.href.split("#")[0]}#${state}`;
	}
}

export default {
	extends: theme,
	setup() {
		onContentUpdated(fillLinks);
	},
};
