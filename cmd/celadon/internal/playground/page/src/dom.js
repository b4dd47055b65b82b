// Untrusted data is only ever set as text: nothing here parses HTML.

export const $ = (id) => document.getElementById(id);

// h creates an element: h("p", { class: "note", onclick: f }, "text", child).
export function h(tag, props, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(props ?? {})) {
		if (value === undefined || value === null || value === false) continue;
		if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
		else element.setAttribute(name, value === true ? "" : value);
	}
	element.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false).map((child) => (typeof child === "string" ? plain(child) : child)));
	return element;
}

// plain escapes control and direction characters.
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const plain = (text) => text.replaceAll(steering, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

// message shows a message of the server. Multi-line messages point into an expression.
export const message = (text) => (text.includes("\n") ? h("pre", { class: "message" }, text.trim()) : h("span", {}, text));

export function number(n) {
	if (n >= 1e15) return n.toExponential(1).replace("e+", "e");
	return n.toLocaleString("en-US");
}

export function share(n, of) {
	if (!of || n === 0) return "0 %";
	const percent = (100 * n) / of;
	if (percent < 0.1) return "under 0.1 %";
	if (percent >= 1000) return `${number(Math.round(percent / 100))} times the limit`;
	return `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

// count returns "1 rule" or "3 rules".
export const count = (n, what) => `${number(n)} ${what}${n === 1 ? "" : "s"}`;

// bar draws a cost against its limit.
export function bar(cost, limit, label) {
	const part = limit ? Math.min(1, cost / limit) : 0;
	const fill = h("span", { class: cost > limit ? "fill over" : part > 0.5 ? "fill much" : "fill" });
	fill.style.width = cost > 0 ? `max(2px, ${100 * part}%)` : "0";
	return h("span", { class: "bar", role: "img", "aria-label": `${label}: ${number(cost)} of ${number(limit)}, ${share(cost, limit)}` }, fill);
}

// lazily fills a <details> when it is first opened.
export function lazily(summary, fill, props) {
	const details = h("details", props, h("summary", {}, summary));
	let filled = false;
	details.addEventListener("toggle", () => {
		if (!details.open || filled) return;
		filled = true;
		details.append(fill());
	});
	return details;
}

// draw replaces the children of an element if its data has changed. If the data is the same, open
// parts stay open, except for results that the user requested there, which may be outdated.
const drawn = new WeakMap();
export function draw(element, data, make) {
	const key = JSON.stringify(data);
	if (drawn.get(element) === key && !element.querySelector(".tree, .found:not(:empty)")) return;
	drawn.set(element, key);
	element.replaceChildren(...make());
}
