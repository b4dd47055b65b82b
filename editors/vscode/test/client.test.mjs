// Runs `celadon lsp` with the client library of the protocol. CELADON names the command.
import { test } from "node:test";
import assert from "node:assert";
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const rpc = require("vscode-languageserver-protocol/node");

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: shirts.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: shirts, singular: shirt, kind: Shirt, listKind: ShirtList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
            x-kubernetes-validations:
            - rule: self.sise > 1
`;

test("diagnostics, hover, completion, a code action", { skip: !process.env.CELADON && "CELADON names no command" }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "celadon-"));
  const path = join(dir, "crd.yaml");
  writeFileSync(path, crd);
  const uri = pathToFileURL(path).href;
  const server = spawn(process.env.CELADON, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  t.after(() => server.kill());
  const c = rpc.createProtocolConnection(new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin));
  const published = [];
  let news = () => {};
  c.onNotification(rpc.PublishDiagnosticsNotification.type, (p) => { published.push(p); news(); });
  const diagnostics = async (version) => {
    for (;;) {
      const found = published.find((p) => p.version === version);
      if (found) return found.diagnostics;
      await new Promise((resolve) => { news = resolve; });
    }
  };
  c.listen();
  const { capabilities } = await c.sendRequest(rpc.InitializeRequest.type, { processId: process.pid, rootUri: pathToFileURL(dir).href, capabilities: {}, workspaceFolders: null });
  assert.ok(capabilities.hoverProvider);
  await c.sendNotification(rpc.InitializedNotification.type, {});
  await c.sendNotification(rpc.DidChangeConfigurationNotification.type, { settings: null });
  await c.sendNotification(rpc.DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId: "yaml", version: 1, text: crd } });
  const [wrong] = await diagnostics(1);
  assert.match(wrong.message, /undefined field 'sise'/);
  const line = crd.split("\n").findIndex((l) => l.includes("- rule:"));
  const column = crd.split("\n")[line].indexOf("sise");
  assert.deepEqual(wrong.range.start, { line, character: column });

  const position = { line, character: column };
  const list = await c.sendRequest(rpc.CompletionRequest.type, { textDocument: { uri }, position });
  assert.ok(list.items.some((i) => i.label === "size"));
  const actions = await c.sendRequest(rpc.CodeActionRequest.type, { textDocument: { uri }, range: wrong.range, context: { diagnostics: [wrong] } });
  const [edit] = actions[0].edit.changes[uri];
  await c.sendNotification(rpc.DidChangeTextDocumentNotification.type, { textDocument: { uri, version: 2 }, contentChanges: [{ range: edit.range, text: edit.newText }] });
  assert.deepEqual((await diagnostics(2)).filter((d) => d.severity === 1), []);
  const hover = await c.sendRequest(rpc.HoverRequest.type, { textDocument: { uri }, position });
  assert.match(hover.contents.value, /integer/);
  await c.sendRequest(rpc.ShutdownRequest.type);
  await c.sendNotification(rpc.ExitNotification.type);
  assert.equal(await ended, 0);
});
