// The client starts `celadon lsp`, which does everything else.
"use strict";
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

// settings returns the settings of the server. Whether the workspace is trusted comes from the
// editor, never from a file in the workspace.
function settings() {
  const c = vscode.workspace.getConfiguration("celadon");
  return { kubeVersion: c.get("kubeVersion"), noLint: c.get("noLint"), trusted: vscode.workspace.isTrusted };
}

async function start() {
  // In an untrusted workspace, its settings cannot choose the command: see
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

function sendSettings() {
  client?.sendNotification("workspace/didChangeConfiguration", { settings: { celadon: settings() } });
}

async function activate(context) {
  context.subscriptions.push(
    vscode.workspace.onDidGrantWorkspaceTrust(sendSettings),
    vscode.workspace.onDidChangeConfiguration(async (e) => {
      if (e.affectsConfiguration("celadon.path")) {
        await stop();
        await start();
      } else if (e.affectsConfiguration("celadon")) {
        sendSettings();
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
    vscode.window.showErrorMessage(`celadon lsp does not start: ${e.message}. Set celadon.path to the command.`);
  }
}

module.exports = { activate, deactivate: stop };
