// @ts-check
"use strict";

const { execFile, spawn } = require("node:child_process");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGE = "pressroom";
const MOST_READ = 4000; // characters of a file that is asked whether it is a template
// Editors choose a language by the end of the name first, which is .xml for most templates. Other formats
// with a root of this name have a namespace, which templates do not.
const TEMPLATE = /^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--[^]*?-->\s*)*<document(?![\w:.-])(?![^>]*\sxmlns)/;

/** @type {LanguageClient | undefined} */
let client;
/** The pages that are shown, by the path of their file. @type {Map<string, vscode.WebviewPanel>} */
const previews = new Map();

/**
 * Look at the files that are open, and at each that is opened.
 * @param {vscode.ExtensionContext} context
 */
function activate(context) {
  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.commands.registerCommand("pressroom.preview", preview),
    vscode.commands.registerCommand("pressroom.push", () => push(context.secrets)),
  );
  for (const document of vscode.workspace.textDocuments) look(document);
}

/**
 * Treat an XML file as a template if it is one, and start the language server with the first template.
 * @param {vscode.TextDocument} document
 */
function look(document) {
  if (document.languageId === LANGUAGE) void start();
  else if (document.languageId === "xml" && isWanted() && TEMPLATE.test(readStart(document))) {
    void vscode.languages.setTextDocumentLanguage(document, LANGUAGE); // opens it once more
  }
}

function isWanted() {
  return vscode.workspace.getConfiguration("pressroom").get("recognizeTemplates");
}

/** @param {vscode.TextDocument} document */
function readStart(document) {
  return document.getText(new vscode.Range(document.positionAt(0), document.positionAt(MOST_READ)));
}

/** The command of the setting, which ends with `lsp`. @returns {string[]} */
function readCommand() {
  return vscode.workspace.getConfiguration("pressroom").get("command") ?? ["pressroom", "lsp"];
}

async function start() {
  if (client) return;
  const [command, ...args] = readCommand();
  client = new LanguageClient(
    "pressroom",
    "Pressroom",
    { command, args },
    { documentSelector: [{ language: LANGUAGE }], middleware: { provideCompletionItem: openValues } },
  );
  try {
    await client.start();
  } catch (error) {
    tell(command, error);
  }
}

/**
 * Complete an attribute with the cursor between its quotes, and the list of its values open.
 * @type {NonNullable<import("vscode-languageclient/node").Middleware["provideCompletionItem"]>}
 */
async function openValues(document, position, context, token, next) {
  const found = (await next(document, position, context, token)) ?? [];
  for (const item of Array.isArray(found) ? found : found.items) {
    if (item.kind !== vscode.CompletionItemKind.Property || typeof item.insertText !== "string") continue;
    item.insertText = new vscode.SnippetString(item.insertText.replace('""', '"$1"'));
    item.command = { command: "editor.action.triggerSuggest", title: "" };
  }
  return found;
}

/** The current template, if it is a file; else say so. */
function findTemplate() {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId === LANGUAGE && !document.isUntitled) return document;
  void vscode.window.showInformationMessage("Open a template that is saved as a file.");
}

/** Show the pages of the current template beside its text; they follow each time that a file is saved. */
function preview() {
  const file = findTemplate()?.uri.fsPath;
  if (!file) return;
  const shown = previews.get(file);
  if (shown) shown.reveal();
  else showPages(file);
}

/** @param {string} file */
function showPages(file) {
  const [command, ...args] = readCommand().slice(0, -1);
  const server = spawn(command, [...args, "preview", file]);
  const name = vscode.workspace.asRelativePath(file);
  const panel = vscode.window.createWebviewPanel("pressroom.preview", name, vscode.ViewColumn.Beside, {
    enableScripts: true,
    retainContextWhenHidden: true,
  });
  previews.set(file, panel);
  panel.onDidDispose(() => {
    previews.delete(file);
    server.kill();
  });
  let said = "";
  server.on("error", (error) => tell(command, error));
  server.stderr.on("data", (text) => (said += text));
  server.on("exit", () => {
    if (said && previews.get(file) === panel) void vscode.window.showErrorMessage(said);
    panel.dispose();
  });
  server.stdout.on("data", async (text) => {
    const [address] = /http:\S+/.exec(String(text)) ?? [];
    if (!address) return;
    const reached = await vscode.env.asExternalUri(vscode.Uri.parse(address)); // of another machine, by a tunnel
    panel.webview.html = `<!doctype html><meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; frame-src ${reached.scheme}://${reached.authority}; style-src 'unsafe-inline'">
      <style>body { margin: 0; padding: 0 } iframe { border: 0; width: 100%; height: 100vh }</style>
      <iframe title="Pages" src="${reached}"></iframe>`;
  });
}

/**
 * Store the current template in the farm, under the slug that its file is named by.
 * @param {vscode.SecretStorage} secrets
 */
async function push(secrets) {
  const document = findTemplate();
  if (!document || !(await document.save())) return;
  const url = vscode.workspace.getConfiguration("pressroom").get("url") || process.env.PRESSROOM_URL;
  if (!url) return void vscode.window.showErrorMessage("Set pressroom.url to the address of the farm.");
  const key = (await secrets.get(url)) ?? process.env.PRESSROOM_KEY ?? (await askForKey(url));
  if (!key) return;
  const [command, ...args] = readCommand().slice(0, -1);
  const env = { ...process.env, PRESSROOM_URL: url, PRESSROOM_KEY: key };
  execFile(command, [...args, "template", "push", document.uri.fsPath], { env }, async (error, said, failed) => {
    if (error && typeof error.code !== "number") return tell(command, error);
    if (error && !said) {
      await secrets.delete(url); // perhaps it was refused: it is asked for anew
      return void vscode.window.showErrorMessage(failed);
    }
    await secrets.store(url, key);
    void vscode.window[error ? "showWarningMessage" : "showInformationMessage"](said || "The farm has this text already.");
  });
}

/** @param {string} url */
function askForKey(url) {
  return vscode.window.showInputBox({ password: true, ignoreFocusOut: true, prompt: `Key for ${url}, with the scope "templates"` });
}

/**
 * @param {string} command
 * @param {unknown} error
 */
function tell(command, error) {
  void vscode.window.showErrorMessage(
    `The command "${command}" of the setting pressroom.command cannot be started: ` +
      `${error instanceof Error ? error.message : error}. Install it with: .venv/bin/pip install '.[lsp]'`,
  );
}

/** Stop the servers; called when the editor closes. */
async function deactivate() {
  for (const panel of previews.values()) panel.dispose();
  if (client?.isRunning()) await client.stop();
}

module.exports = { activate, deactivate };
