// The grammars, as an editor runs them.
import { test } from "node:test";
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const { Registry, parseRawGrammar, INITIAL } = require("vscode-textmate");

const onigLib = oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer)
  .then(() => ({ createOnigScanner: (p) => new oniguruma.OnigScanner(p), createOnigString: (s) => new oniguruma.OnigString(s) }));

// Hosts replace the editor's own grammars, which mark keys and comments.
const hosts = {
  "source.yaml": { scopeName: "source.yaml", patterns: [{ name: "string.unquoted.yaml", match: "\\S+" }] },
  "source.go": { scopeName: "source.go", patterns: [{ name: "comment.line.double-slash.go", begin: "//", end: "$" }] },
};
const files = { "source.cel.celadon": "cel", "celadon.yaml.injection": "yaml", "celadon.go.injection": "go" };
const registry = new Registry({
  onigLib,
  loadGrammar: async (scope) => {
    const path = files[scope];
    const text = path ? readFileSync(new URL(`../syntaxes/${path}.json`, import.meta.url), "utf8") : JSON.stringify(hosts[scope]);
    return parseRawGrammar(text, `${scope}.json`);
  },
  getInjections: (scope) => ({ "source.yaml": ["celadon.yaml.injection"], "source.go": ["celadon.go.injection"] })[scope],
});

// scopes returns the innermost scopes of the words in a text.
async function scopes(host, text) {
  const grammar = await registry.loadGrammar(host);
  const found = {};
  let state = INITIAL;
  for (const line of text.split("\n")) {
    const r = grammar.tokenizeLine(line, state);
    state = r.ruleStack;
    for (const t of r.tokens) {
      const word = line.slice(t.startIndex, t.endIndex).trim();
      if (word) found[word] = t.scopes;
    }
  }
  return found;
}

const cel = (s) => s?.includes("meta.embedded.cel");
const last = (s) => s[s.length - 1];

for (const [name, text] of Object.entries({
  plain: "    - rule: self.a.all(x, x > 1) # note\n      message: self.b",
  single: "    - rule: 'self.a.all(x, x > 1)'\n      message: self.b",
  double: "    - rule: \"self.a.all(x, x > 1)\"\n      message: self.b",
  literal: "    - rule: |-\n        self.a\n\n        .all(x, x > 1)\n      message: self.b",
  folded: "      rule: >\n        self.a\n        .all(x, x > 1)\n      message: self.b",
  expression: "      messageExpression: self.a.all(x, x > 1)\n      message: self.b",
})) {
  test(`yaml, ${name}`, async () => {
    const s = await scopes("source.yaml", text);
    assert.equal(last(s.self), "variable.language.cel");
    assert.ok(cel(s.self));
    assert.equal(last(s.all), "keyword.other.macro.cel");
    assert.equal(last(s["1"]), "constant.numeric.cel");
    assert.ok(!cel(s["self.b"]), "the message is no expression");
  });
}

test("yaml, strings in quotes", async () => {
  const s = await scopes("source.yaml", "- rule: 'self == ''it is'' || self.b'\n  message: c");
  assert.equal(last(s["''it is''"]), "string.quoted.single.escaped.cel");
  assert.equal(last(s.b), "variable.other.property.cel");
  assert.ok(!cel(s.c));
});

test("go", async () => {
  const s = await scopes("source.go", "// +kubebuilder:validation:XValidation:rule=\"self.a == \\\"b\\\" && has(self.c)\",message=\"no\"\n// rule=\"slef\"\nother");
  assert.equal(last(s.self), "variable.language.cel");
  assert.equal(last(s.has), "keyword.other.macro.cel");
  assert.ok(!cel(s["\",message=\"no\""]));
  assert.ok(!cel(s["rule=\"slef\""]));
  const raw = await scopes("source.go", "// +kubebuilder:validation:XValidation:rule=`self.all(v, v == 'x')`,message=\"no\"");
  assert.equal(last(raw["'x'"]), "string.quoted.single.cel");
});
