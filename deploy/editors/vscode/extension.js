"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** Start the language server; called by the editor with the first template. */
async function activate() {
  const [command, ...args] = vscode.workspace.getConfiguration("pressroom").get("command");
  client = new LanguageClient(
    "pressroom",
    "Pressroom",
    { command, args },
    { documentSelector: [{ language: "pressroom" }] },
  );
  try {
    await client.start();
  } catch (error) {
    void vscode.window.showErrorMessage(
      `The command "${command}" of the setting pressroom.command cannot be started: ${error.message}. ` +
        "Install it with: pip install 'pressroom[lsp]'",
    );
  }
}

/** Stop the server; called when the editor closes. */
async function deactivate() {
  if (client?.isRunning()) await client.stop();
}

module.exports = { activate, deactivate };
