// Opens objects in the YAML language server with the schemas of `celadon docs -o jsonschema`. CELADON names the command.
import { test } from "node:test";
import assert from "node:assert";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const rpc = require("vscode-languageserver-protocol/node");
const examples = join(import.meta.dirname, "../../../examples");

test("schemas in the YAML language server", { skip: !process.env.CELADON && "CELADON names no command" }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "celadon-"));
  execFileSync(process.env.CELADON, ["docs", join(examples, "crontab/crd.yaml"), "-o", "jsonschema", "--out", dir]);
  const path = join(import.meta.dirname, "../node_modules/yaml-language-server/bin/yaml-language-server");
  const server = spawn(process.execPath, [path, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => server.kill());
  const c = rpc.createProtocolConnection(new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin));
  const waiting = new Map();
  c.onNotification(rpc.PublishDiagnosticsNotification.type, (p) => waiting.get(p.uri)?.(p.diagnostics));
  c.onRequest(rpc.ConfigurationRequest.type, ({ items }) => items.map(() => ({})));
  c.onRequest(rpc.RegistrationRequest.type, () => {});
  c.listen();
  await c.sendRequest(rpc.InitializeRequest.type, { processId: process.pid, rootUri: pathToFileURL(dir).href, capabilities: {}, workspaceFolders: null });
  await c.sendNotification(rpc.InitializedNotification.type, {});

  // open returns the diagnostics of a document whose first line names a schema.
  const open = (schema, body) => {
    const uri = pathToFileURL(join(dir, `${waiting.size}.yaml`)).href;
    const text = `# yaml-language-server: $schema=${pathToFileURL(join(dir, schema)).href}\n${body}`;
    return new Promise((resolve) => {
      waiting.set(uri, (diagnostics) => resolve({ uri, text, diagnostics }));
      c.sendNotification(rpc.DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId: "yaml", version: 1, text } });
    });
  };
  const object = (spec) => `apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata: {name: a}\nspec:\n  schedule: "0 3 * * *"\n  image: a\n${spec}`;
  for (const schema of ["crontab-stable.example.com-v1.json", "all.json"]) {
    const good = await open(schema, object("  replicas: 3\n"));
    assert.deepEqual(good.diagnostics, [], schema);
    const bad = await open(schema, object("  replicas: many\n  replica: 3\n"));
    const lines = bad.diagnostics.map((d) => d.range.start.line).sort();
    assert.deepEqual(lines, [7, 8], JSON.stringify(bad.diagnostics));
    assert.match(bad.diagnostics.map((d) => d.message).join("\n"), /Property replica is not allowed/);
  }
  const { uri } = await open("crontab-stable.example.com-v1.json", object("  "));
  const hover = await c.sendRequest(rpc.HoverRequest.type, { textDocument: { uri }, position: { line: 4, character: 1 } });
  assert.match(hover.contents.value.replaceAll("\\", ""), /self.replicas <= self.maxReplicas/); // the rules of spec
  const completed = await c.sendRequest(rpc.CompletionRequest.type, { textDocument: { uri }, position: { line: 7, character: 2 } });
  assert.ok(completed.items.some((item) => item.label === "maxReplicas"), JSON.stringify(completed));
});
