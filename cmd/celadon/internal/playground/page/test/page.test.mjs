import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { choose, example, inBrowser, launch, native, open, press, reset, set, settled, siteDir, slow, textIn, words } from "./harness.mjs";

const hasSite = siteDir && existsSync(path.join(siteDir, "index.html"));
if (!hasSite) console.log("NO SITE: the page is tried with the engine behind it alone (make -C site played-long tries both)");

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const link = (state) => "#v1." + deflateRawSync(Buffer.from(typeof state === "string" ? state : JSON.stringify(state))).toString("base64url");

for (const engine of [native, ...(hasSite ? [inBrowser] : [])]) {
	describe(engine === native ? "engine behind the page" : "engine in the browser", () => {
		let at;
		let one; // a page that is open
		before(async () => {
			at = await engine();
			one = await open(browser, at);
		});
		after(async () => {
			await one?.close();
			at?.end();
		});

		test("the first example is the easiest, and its comment leads to an accepted object", async () => {
			const { page } = one;
			assert.match(await words(page, "#verdict"), /Rejected: Widget shop\/front \(create\)[^]*replicas must not exceed maxReplicas/);
			assert.equal(await page.$eval("#examples", (e) => e.options[1].text), "Your first rule");
			await set(page, "object", (await example("playground/widget/object.yaml")).replace("replicas: 5", "replicas: 2"));
			assert.match(await words(page, "#verdict"), /Accepted: Widget shop\/front/);
		});

		test("a rejected update has causes, values, costs and lines", async () => {
			const { page } = one;
			await choose(page, "A certificate");
			assert.match(await words(page, "#verdict"), /Rejected: Certificate shop\/web \(update\)[^]*renewBefore \(1000h\) must be shorter than duration \(720h\)/);
			assert.match(await words(page, "#causes"), /duration\(self\.renewBefore\)\s+"3600000s"/);
			assert.match(await words(page, "#rules"), /rules ran on Certificate shop\/web\s+cost \d+ of 10,000,000/);
			assert.match(await words(page, "#vet"), /The CRD would be accepted[^]*Its rules need Kubernetes 1\.32/);
			await press(page, "#causes button", "Object, line 11");
			assert.equal(await page.evaluate(() => document.getElementById("editor-object").shadowRoot.querySelector(".cm-activeLine").textContent), "  renewBefore: 1000h");
			await press(page, "#causes button", "Rule, line 26");
			assert.match(await page.evaluate(() => document.getElementById("editor-crd").shadowRoot.querySelector(".cm-activeLine").textContent), /rule: .*self\.renewBefore/);
		});

		test("rules that an error keeps from running are announced", async () => {
			const { page } = one;
			await choose(page, "Three invalid CronTabs");
			await set(page, "object", "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata: {name: a}\nspec: {schedule: '@daily', replicas: many}\n");
			assert.match(await words(page, "#causes"), /Why \(3 causes\)[^]*spec\.replicas[^]*Would follow once the above is fixed\s+spec\.schedule[^]*must have five fields/);
			await choose(page, "A certificate");
			assert.doesNotMatch(await words(page, "#causes"), /Would follow/);
		});

		test("policies decide, and their values and lines are shown", async () => {
			const { page } = one;
			await choose(page, "A policy next to a CRD");
			assert.match(await words(page, "#verdict"), /Rejected: CronTab default\/eager[^]*denied request: at most 3 replicas are allowed here/);
			assert.match(await words(page, "#causes"), /replica-limit[^]*object\.spec\.replicas <= variables\.limit[^]*object\.spec\.replicas\s+5/);
			await press(page, "#causes button", "Policy, line 18");
			assert.match(await page.evaluate(() => document.getElementById("editor-policies").shadowRoot.querySelector(".cm-activeLine").textContent), /variables\.limit/);
			await set(page, "policies", "kind: ValidatingAdmissionPolicy\napiVersion: admissionregistration.k8s.io/v1\nmetadata: {name: p}\nspec: {");
			assert.match(await words(page, "#verdict"), /Problems of[^]*policies\.yaml/);
			await choose(page, "A certificate");
			assert.doesNotMatch(await words(page, "#verdict"), /policies/);
		});

		test("a table shows the Kubernetes versions", async () => {
			const { page } = one;
			await page.evaluate(() => { [...document.querySelectorAll("#vet details")].find((d) => d.textContent.startsWith("Kubernetes versions")).open = true; });
			await page.waitForSelector("#vet .versions table");
			assert.match(await words(page, "#vet .versions"), /1\.31\s+rejected[^]*1\.37\s+accepted\s+[\d,]+\s+rejected/);
		});

		test("the persisted form is shown", async () => {
			assert.match(await one.page.$eval("#persisted", (e) => e.textContent), /^$/, "a rejected object is not persisted");
			await set(one.page, "object", (await example("playground/certificate/old.yaml")).replace("shop_old", "old"));
			assert.match(await words(one.page, "#verdict"), /Accepted/);
			assert.match(await one.page.$eval("#persisted", (e) => e.textContent), /\+ {2}isCA: false/);
		});

		test("a rule opens operand by operand", async () => {
			await choose(one.page, "A certificate");
			await one.page.evaluate(() => {
				const rule = [...document.querySelectorAll("#rules > section > ul > li > details")].find((d) => d.textContent.includes("duration(self.renewBefore)"));
				rule.open = true;
			});
			await one.page.waitForSelector("#rules .runs details");
			await one.page.evaluate(() => { document.querySelector("#rules .runs details").open = true; });
			await one.page.waitForSelector("#rules .tree ul");
			assert.match(await words(one.page, "#rules .tree"), /^[^]*false[^]*self\.renewBefore\)? "3600000s"|"3600000s"/);
		});

		test("what is open stays open while the object changes, and is of it", async () => {
			const object = (await example("playground/certificate/object.yaml")).replace("1000h", "2000h");
			await set(one.page, "object", object);
			await one.page.waitForFunction(() => document.querySelector("#rules .tree ul")?.textContent.includes("7200000s"), { timeout: slow });
		});

		test("an edit is decided, and typing goes on meanwhile", async () => {
			await set(one.page, "object", "apiVersion: tls.example.com/v1\nkind: Certificate\nmetadata: {name: a}\nspec:\n  secretName: a\n  issuer: {name: b}\n  commonName: ");
			await one.page.keyboard.type("shop");
			await one.page.waitForFunction(() => document.getElementById("verdict").innerText.includes("Accepted: Certificate default/a"), { timeout: slow });
		});

		test("advice is followed by a button", async () => {
			await choose(one.page, "have no bounds");
			assert.match(await words(one.page, "#vet"), /would be rejected[^]*With these bounds, all rules fit: *Set all bounds[^]*kubectl output/);
			await one.page.evaluate(() => { delete document.documentElement.dataset.vet; });
			await press(one.page, ".advice button", "Set all bounds");
			await settled(one.page);
			assert.match(await words(one.page, "#vet"), /would be accepted/);
			assert.match(await textIn(one.page, "crd"), /maxItems: \d+/);
		});

		// Each of these once ended in "Cannot read properties of null" next to the verdict on the CRD before it.
		const spec = "spec:\n  group: example.com\n  names: {kind: Lamp, plural: lamps}\n  scope: Namespaced\n  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n";
		const bare = `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: lamps.example.com}\n${spec}`;
		for (const { name, crd, vet, problem, line, note } of [
			{ name: "without rules", crd: bare, vet: /The CRD would be accepted: lamps\.example\.com[^]*v1: 0 rules/, problem: /no validation rules: add x-kubernetes-validations/, line: 9, note: true },
			{ name: "with a misspelt key", crd: bare.replace("scope:", "scpe:"), vet: /The CRD would be rejected/, problem: /unknown field "spec\.scpe", did you mean scope\?/, line: 7 },
			{ name: "empty", crd: "", vet: /No CRD/, problem: /the input is empty/, line: 1 },
			{ name: "broken", crd: bare.replace("scope:", "scope"), vet: /The CRD is undecided/, problem: /yaml: line 7/, line: 7 },
			{ name: "of another kind", crd: bare.replace("kind: Custom", "kind: Costume"), vet: /No CRD/, problem: /kind is "CostumeResourceDefinition"/, line: 2 },
		]) {
			test(`a CRD ${name} has a verdict of its own`, async () => {
				const { page } = one;
				await choose(page, "A certificate");
				assert.match(await words(page, "#vet"), /The CRD would be accepted: certificates/);
				await page.evaluate(() => { delete document.documentElement.dataset.vet; });
				await set(page, "crd", crd);
				await settled(page);
				assert.doesNotMatch(await page.$eval("body", (e) => e.innerText), /Cannot read properties/);
				assert.match(await words(page, "#vet"), vet);
				assert.doesNotMatch(await words(page, "#vet"), /certificates/);
				const marks = () => page.evaluate(() => document.getElementById("editor-crd").shadowRoot.querySelectorAll(".cm-lintRange-error, .cm-lintPoint-error").length);
				assert.equal((await marks()) > 0, !note, "marks in the CRD");
				assert.match(await words(page, "#vet"), problem);
				await press(page, "#vet button", `CRD, line ${line}`);
				assert.equal(await page.evaluate(() => [...document.getElementById("editor-crd").shadowRoot.querySelectorAll(".cm-line")].findIndex((l) => l.classList.contains("cm-activeLine")) + 1), line);
			});
		}

		test("a failed answer leaves no verdict of an earlier CRD", async () => {
			await choose(one.page, "A certificate");
			assert.match(await words(one.page, "#vet"), /The CRD would be accepted/);
			await one.page.evaluate((hash) => {
				delete document.documentElement.dataset.vet;
				location.hash = hash;
			}, link({ crd: bare, object: "", old: "", kubeVersion: "9.99", subresource: "" })); // no server has this version
			await settled(one.page);
			assert.match(await words(one.page, "#verdict"), /No result/);
			assert.match(await words(one.page, "#vet"), /No result/);
			assert.doesNotMatch(await one.page.$eval("#result", (e) => e.innerText), /would be accepted|Rejected|rules ran/);
			await reset(one.page, "kube");
		});

		test("an example that is typed character by character always has its own verdict", async () => {
			const other = await open(browser, at);
			const { page } = other;
			for (const pane of ["crd", "object"]) {
				const text = await example(`playground/widget/${pane}.yaml`);
				await page.evaluate(() => { delete document.documentElement.dataset.vet; });
				await set(page, pane, "", pane === "object");
				for (let i = 1; i <= text.length; i++) {
					await page.evaluate((pane, text) => window.celadonType(pane, text), pane, text.slice(0, i));
					if (i % 7 > 0 && i < text.length) continue; // the page merges edits that follow each other quickly
					await page.waitForFunction(() => document.getElementById("busy").hidden && !document.getElementById("result").classList.contains("stale"), { timeout: slow });
					const [result, expected] = await page.evaluate(async (pane, crd, object) => [
						document.getElementById("result").innerText,
						pane === "crd" ? (await window.celadonAsk({ do: "vet", crd, kubeVersion: "" })).problems.map((p) => p.message) : (await window.celadonAsk({ do: "check", crd, object })).report.objects.map((o) => o.verdict),
					], pane, pane === "crd" ? text.slice(0, i) : await example("playground/widget/crd.yaml"), pane === "object" ? text.slice(0, i) : "");
					assert.doesNotMatch(result, /Cannot read|undefined(?! field)|\[object|The page has failed|internal error/, `${pane}, ${i}`);
					if (pane === "crd") for (const problem of expected) assert.ok(result.includes(problem.split("\n")[0]), `${problem} in ${result}, ${i}`);
					else assert.equal(await page.evaluate(() => document.documentElement.dataset.verdict), expected.join(" "), `${i}`);
				}
			}
			assert.match(await words(page, "#verdict"), /Rejected: Widget shop\/front/);
			assert.deepEqual(other.seen.errors, []);
			await other.close();
		});

		test("CEL is colored, and long lines wrap", async () => {
			const { page } = one;
			await choose(page, "A certificate");
			const of = (name) => page.evaluate((name) => [...document.getElementById("editor-crd").shadowRoot.querySelectorAll(`.cm-cel-${name}`)].map((e) => e.textContent.trim()), name);
			await page.waitForFunction(() => document.getElementById("editor-crd").shadowRoot.querySelector(".cm-cel-function"), { timeout: slow });
			assert.ok((await of("variable")).includes("self"));
			assert.ok((await of("function")).some((text) => text.startsWith("has")));
			assert.ok((await of("operator")).includes("||"));
			const shades = await page.evaluate(() => ["variable", "function", "string"].map((name) => getComputedStyle(document.getElementById("editor-crd").shadowRoot.querySelector(`.cm-cel-${name}`)).color));
			assert.equal(new Set(shades).size, 3, `${shades}`);
			const over = await page.evaluate(() => ["crd", "object"].map((pane) => { const e = document.getElementById(`editor-${pane}`).shadowRoot.querySelector(".cm-scroller"); return e.scrollWidth - e.clientWidth; }));
			assert.deepEqual(over.map((n) => n <= 1), [true, true], `${over} pixels stand over`);
			const cut = await page.evaluate(() => [...document.querySelectorAll("#result code.rule")].filter((e) => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1).length);
			assert.equal(cut, 0, "rules that are cut off");
		});

		test("the help names the keys and leads to the documentation", async () => {
			const { page } = one;
			await page.click("#help");
			assert.match(await words(page, "#helping"), /How to use this page[^]*Ctrl\+Space[^]*F8[^]*Documentation/);
			const links = await page.$$eval("#helping a", (list) => list.map((a) => [a.href, a.rel, a.target].join(" ")));
			assert.ok(links.length >= 5 && links.every((l) => /^https?:\S+ noopener noreferrer _blank$/.test(l)), links.join("\n"));
			await press(page, "#helping button", "Close");
		});

		test("an object that a rule rejects is found", async () => {
			await choose(one.page, "A cluster");
			await one.page.evaluate(() => { document.querySelector("#rules > section > ul > li > details").open = true; });
			await press(one.page, "#rules button", "Find an object");
			await one.page.waitForFunction(() => document.querySelector("#rules .found")?.textContent.includes("Use it"), { timeout: slow });
			await one.page.evaluate(() => { delete document.documentElement.dataset.verdict; });
			await press(one.page, "#rules .found button", "Use it");
			await one.page.waitForFunction(() => document.documentElement.dataset.verdict === "invalid", { timeout: slow });
		});

		test("completion knows what can stand in a rule", async () => {
			await choose(one.page, "A certificate");
			const crd = await example("playground/certificate/crd.yaml");
			await set(one.page, "crd", crd.slice(0, crd.indexOf("rule: has(self.commonName)") + "rule: ".length));
			await one.page.keyboard.type("self.privateKey.algorithm == 'RSA'");
			await set(one.page, "crd", crd);
			await one.page.evaluate(() => document.getElementById("editor-crd").shadowRoot.querySelector(".cm-content").focus());
			await press(one.page, "#rules button, #causes button", "Rule, line 26");
			await one.page.keyboard.press("End");
			await one.page.keyboard.press("ArrowLeft");
			await one.page.keyboard.type(" && self.privateKey.alg", { delay: 20 });
			await one.page.waitForFunction(() => document.getElementById("editor-crd").shadowRoot.querySelector(".cm-tooltip-autocomplete")?.textContent.includes("algorithm"), { timeout: slow });
			await one.page.keyboard.press("Escape");
		});

		test("links contain everything except passwords", async () => {
			await choose(one.page, "A database");
			const object = (await example("playground/database/object.yaml")).replace("name: orders", "name: orders # é 😀 \u2028");
			await set(one.page, "object", object);
			await one.page.click("#share");
			await one.page.waitForFunction(() => document.getElementById("link").value.includes("#v1."), { timeout: slow });
			const safe = await one.page.$eval("#link", (e) => e.value);
			await one.page.click("#with-secrets");
			await one.page.waitForFunction((safe) => document.getElementById("link").value !== safe, {}, safe);
			const whole = await one.page.$eval("#link", (e) => e.value);
			await press(one.page, "#sharing button", "Close");
			for (const [address, ...parts] of [[safe, "password: (hidden)"], [whole, "password: orders-and-more-1", "# é 😀 "]]) {
				const other = await open(browser, at, { fragment: new URL(address).hash });
				const text = await textIn(other.page, "object");
				assert.ok(parts.every((part) => text.includes(part)), text);
				assert.equal(await words(other.page, "#notice"), "");
				await other.close();
			}
		});

		test("links that are damaged or hostile are explained", async () => {
			const good = link({ crd: "a: 1" });
			for (const [fragment, want] of [
				[good.slice(0, -3), /damaged/], ["#v1.!!!", /invalid characters/], ["#v1.", /damaged/], ["#v9.AAAA", /not supported/],
				[link("{"), /not JSON/], [link({ crd: {} }), /crd is not a string/], [link(Buffer.alloc(30 << 20, " ").toString("latin1")), /too much data/], ["#v1.AAAA", /damaged/],
			]) {
				await one.page.evaluate((fragment) => {
					document.getElementById("notice").hidden = true;
					location.hash = fragment;
				}, fragment);
				await one.page.waitForFunction(() => !document.getElementById("notice").hidden, { timeout: slow });
				assert.match(await words(one.page, "#notice"), want, fragment.slice(0, 60));
			}
			await one.page.evaluate(() => { document.getElementById("notice").hidden = true; });
		});

		test("the content of a link is only text", async () => {
			const html = `<img src=x onerror=document.title='owned'>`;
			const crd = (await example("playground/policy/crd.yaml")).replaceAll("nobody can be allowed and denied the same", `"${html}"`).replace("policies.access.example.com", JSON.stringify(html)).replace("kind: Policy,", `kind: Policy, shortNames: [${JSON.stringify(html)}],`);
			const object = (await example("playground/policy/object.yaml")).replace("name: readers", `name: ${JSON.stringify(html)}`).replaceAll("bo", JSON.stringify(html)) + "---\napiVersion: access.example.com/v1\nkind: Policy\nmetadata: {name: \"a\\u202Eb\"}\n";
			const other = await open(browser, at, { fragment: link({ crd, object, kubeVersion: html, subresource: html }), wait: false });
			await other.page.waitForFunction(() => document.getElementById("verdict").innerText.includes("No result"), { timeout: slow });
			await reset(other.page, "kube", "subresource");
			assert.ok((await words(other.page, "#verdict")).includes("<img src=x"));
			assert.ok((await words(other.page, "#verdict")).includes("a\\u202eb") && !/[\u202a-\u202e]/.test(await words(other.page, "#result")));
			assert.equal(await other.page.title(), "Celadon playground");
			assert.equal(await other.page.evaluate(() => document.querySelectorAll("main img").length), 0);
			await other.close();
		});

		test("the page is accessible in both themes, and none of it is cut off", async () => {
			const axe = await readFile(path.join(import.meta.dirname, "../node_modules/axe-core/axe.min.js"), "utf8");
			await choose(one.page, "have no bounds");
			for (const [theme, width] of [["light", 1440], ["dark", 1440], ["light", 390], ["dark", 390]]) {
				await one.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
				await one.page.setViewport({ width, height: 844 });
				await one.page.evaluate(axe);
				const shown = ["result", "crd", "object", "old"];
				for (const pane of width > 760 ? shown.slice(0, 1) : shown) {
					await one.page.evaluate((pane) => document.querySelector(`nav [data-show=${pane}]`).click(), pane);
					const found = await one.page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ") + " " + n.failureSummary).slice(0, 3).join("; ")}`)));
					assert.deepEqual(found, [], `${theme} ${width} ${pane}`);
					const overflow = await one.page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
					assert.ok(overflow <= 0, `${overflow} pixels stand over at ${width}, ${pane}`);
				}
			}
			await one.page.setViewport({ width: 1440, height: 900 });
		});

		test("the main way goes by keyboard alone", async () => {
			const { page, close } = await open(browser, at);
			const focused = () => page.evaluate(() => { let e = document.activeElement; while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement; return e?.id || e?.getAttribute("aria-label") || e?.textContent?.slice(0, 40) || e?.tagName; });
			await page.keyboard.press("Tab");
			assert.equal(await focused(), "skip");
			const passed = [];
			for (let i = 0; i < 18; i++) {
				await page.keyboard.press("Tab");
				passed.push(await focused());
			}
			for (const want of ["examples", "kube", "subresource", "open", "share", "help", "theme", "Save the CRD", "CRD", "Object", "Old object"]) assert.ok(passed.some((p) => p === want || p.startsWith(`Theme`) && want === "theme"), `${want} in ${passed}`);
			await page.evaluate(() => document.getElementById("skip").focus());
			await page.keyboard.press("Enter");
			assert.equal(await focused(), "verdict");
			for (let i = 0; i < 10 && !/^Object, line/.test(await focused()); i++) await page.keyboard.press("Tab");
			await page.keyboard.press("Enter");
			assert.equal(await focused(), "Object");
			await page.keyboard.press("End");
			await page.keyboard.type(" # mended");
			await page.waitForFunction(() => document.getElementById("editor-object").shadowRoot.textContent.includes("# mended"), { timeout: slow });
			await close();
		});

		test("no request leaves the page's own origin, and none but to the engine carries what is written", async () => {
			const { origin } = new URL(at.url);
			for (const r of one.seen.requests) {
				if (r.url.startsWith("blob:") || r.url.startsWith("data:")) continue;
				assert.equal(new URL(r.url).origin, origin);
				assert.equal(new URL(r.url).search + new URL(r.url).hash, "");
				assert.ok(r.body === "" || (engine === native && r.method === "POST" && r.url === at.url + "answer"), r.url);
				if (engine === inBrowser) assert.equal(r.method, "GET");
			}
			assert.deepEqual(one.seen.errors, []);
			// A script of the test may evaluate strings, but not a script of a timer.
			await one.page.evaluate(() => setTimeout("window.evaluated = true"));
			await new Promise((done) => setTimeout(done, 200));
			assert.equal(await one.page.evaluate(() => window.evaluated), undefined);
		});
	});
}

// The picture in docs/playground.md shows the current page. CELADON_PICTURE=update recreates
// it. Fonts differ between machines, so the comparison is tolerant.
test("the picture in the docs is of this page", async () => {
	const file = path.join(import.meta.dirname, "../../../../../../docs/playground.png");
	const at = await native();
	const { page, close } = await open(browser, at, { width: 1360, height: 800 });
	await new Promise((done) => setTimeout(done, 800)); // until the last marks are shown
	const now = await page.screenshot({ type: "png" });
	if (process.env.CELADON_PICTURE === "update") await writeFile(file, now);
	const blank = await browser.newPage();
	const differs = await blank.evaluate(async (pictures) => {
		const small = await Promise.all(pictures.map(async (data) => {
			const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
			const context = new OffscreenCanvas(image.width / 8, image.height / 8).getContext("2d");
			context.drawImage(image, 0, 0, image.width / 8, image.height / 8);
			return [image.width, image.height, context.getImageData(0, 0, image.width / 8, image.height / 8).data];
		}));
		const [[w, h, a], [w2, h2, b]] = small;
		if (w !== w2 || h !== h2) return 1;
		let n = 0;
		for (let i = 0; i < a.length; i += 4) if (Math.abs(a[i] + a[i + 1] + a[i + 2] - b[i] - b[i + 1] - b[i + 2]) > 120) n++;
		return n / (a.length / 4);
	}, [Buffer.from(now).toString("base64"), (await readFile(file)).toString("base64")]);
	assert.ok(differs < 0.08, `${(100 * differs).toFixed(1)} % of the picture is another: CELADON_PICTURE=update makes it anew`);
	await blank.close();
	await close();
	at.end();
});

if (hasSite) {
	describe("engine in the browser, alone", () => {
		test("typing works before the engine does", async () => {
			const at = await inBrowser();
			const { page, close } = await open(browser, at, { wait: false });
			await set(page, "object", "kind: A", false);
			await page.keyboard.type("\nname: b");
			assert.equal(await textIn(page, "object"), "kind: A\nname: b");
			assert.match(await words(page, "#verdict"), /engine/);
			await close();
			at.end();
		});

		test("work that does not end is ended, and the engine is there again", async () => {
			const at = await inBrowser();
			const { page, close } = await open(browser, at);
			const slowPane = `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.e.com}\nspec:\n  group: e.com\n  scope: Cluster\n  names: {kind: A, plural: as, singular: a, listKind: AList}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          a: {type: array, items: {type: string}}\n        x-kubernetes-validations:\n        - rule: self.a.all(x, self.a.all(y, self.a.all(z, x.matches(y) || x.contains(z) || true)))\n`;
			const typing = async (text) => {
				const start = Date.now();
				await page.keyboard.type(text);
				return Date.now() - start;
			};
			await set(page, "object", `apiVersion: e.com/v1\nkind: A\nmetadata: {name: a}\na:\n${"- a\n".repeat(20_000)}`);
			const idle = await typing("# typed while it rests");
			await set(page, "crd", slowPane, false);
			const working = await typing("# typed while it works");
			assert.ok(working < 4 * idle + 1_000, `typing took ${working} ms, and ${idle} ms before`);
			await set(page, "object", "", true);
			assert.match(await words(page, "#verdict"), /Write an object/);
			await close();
			at.end();
		});
	});
}
