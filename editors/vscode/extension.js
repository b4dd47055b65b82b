// The client starts `celadon lsp` and leaves all else to it.
"use strict";
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

// settings are what the server wants to know; whether the workspace is trusted is the
// editor's to say, never a file's in it.
function settings() {
  const c = vscode.workspace.getConfiguration("celadon");
  return { kubeVersion: c.get("kubeVersion"), noLint: c.get("noLint"), trusted: vscode.workspace.isTrusted };
}

async function start() {
  // In a workspace that is not trusted its own settings do not say what is run: see
  // restrictedConfigurations.
  const command = vscode.workspace.getConfiguration("celadon").get("path") || "celadon";
  const next = new LanguageClient(
    "celadon",
    "Celadon",
    { command, args: ["lsp"], transport: TransportKind.stdio },
    {
      documentSelector: ["yaml", "json", "jsonc", "go"].map((language) => ({ scheme: "file", language })),
      initializationOptions: settings(),
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{yaml,yml,json}") },
    },
  );
  await next.start();
  client = next;
}

async function stop() {
  const old = client;
  client = undefined;
  await old?.stop();
}

function tell() {
  client?.sendNotification("workspace/didChangeConfiguration", { settings: { celadon: settings() } });
}

async function activate(context) {
  context.subscriptions.push(
    vscode.workspace.onDidGrantWorkspaceTrust(tell),
    vscode.workspace.onDidChangeConfiguration(async (e) => {
      if (e.affectsConfiguration("celadon.path")) {
        await stop();
        await start();
      } else if (e.affectsConfiguration("celadon")) {
        tell();
      }
    }),
    vscode.commands.registerCommand("celadon.restart", async () => {
      await stop();
      await start();
    }),
  );
  try {
    await start();
  } catch (e) {
    vscode.window.showErrorMessage(`celadon lsp does not start: ${e.message}. The setting celadon.path names the command.`);
  }
}

module.exports = { activate, deactivate: stop };
