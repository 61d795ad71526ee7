"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGE = "pressroom";
const MOST_READ = 4000; // characters of a file that is asked whether it is a template
// Editors choose a language by the end of the name first, which is .xml for most templates. Other formats
// with a root of this name have a namespace, which templates do not.
const TEMPLATE = /^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--[^]*?-->\s*)*<document(?![\w:.-])(?![^>]*\sxmlns)/;

let client;

/** Look at the files that are open, and at each that is opened. */
function activate(context) {
  context.subscriptions.push(vscode.workspace.onDidOpenTextDocument(look));
  for (const document of vscode.workspace.textDocuments) look(document);
}

/** Treat an XML file as a template if it is one, and start the language server with the first template. */
function look(document) {
  if (document.languageId === LANGUAGE) void start();
  else if (document.languageId === "xml" && isWanted() && TEMPLATE.test(readStart(document))) {
    void vscode.languages.setTextDocumentLanguage(document, LANGUAGE); // opens it once more
  }
}

function isWanted() {
  return vscode.workspace.getConfiguration("pressroom").get("recognizeTemplates");
}

function readStart(document) {
  return document.getText(new vscode.Range(document.positionAt(0), document.positionAt(MOST_READ)));
}

async function start() {
  if (client) return;
  const [command, ...args] = vscode.workspace.getConfiguration("pressroom").get("command");
  client = new LanguageClient(
    "pressroom",
    "Pressroom",
    { command, args },
    { documentSelector: [{ language: LANGUAGE }] },
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
