// The theme: light, dark, or the system's. The choice is stored in this browser only.
const names = ["system", "light", "dark"];
const words = { system: "system", light: "light", dark: "dark" };

export function themes(button) {
	let at = Math.max(0, names.indexOf(kept()));
	const set = () => {
		const name = names[at];
		if (name === "system") delete document.documentElement.dataset.theme;
		else document.documentElement.dataset.theme = name;
		button.textContent = { system: "Theme", light: "Light", dark: "Dark" }[name];
		button.setAttribute("aria-label", `Theme: ${words[name]}`);
	};
	button.addEventListener("click", () => {
		at = (at + 1) % names.length;
		try {
			localStorage.setItem("theme", names[at]);
		} catch {
			// the choice is not stored
		}
		set();
	});
	set();
}

function kept() {
	try {
		return localStorage.getItem("theme");
	} catch {
		return "system";
	}
}
