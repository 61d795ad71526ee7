"""The extension for VS Code: its manifest names files that exist, and a server that answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deploy.cli.commands import build_parser
from workers.engine.pipeline import prepare_template, validate
from workers.engine.ports import RenderOptions

FOLDER = Path(__file__).parents[2] / "deploy/editors/vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text())


def test_the_manifest_names_files_that_exist():
    contributes = MANIFEST["contributes"]
    [language], [grammar] = contributes["languages"], contributes["grammars"]
    [snippets] = contributes["snippets"]
    paths = (MANIFEST["main"], language["configuration"], grammar["path"], snippets["path"])
    named = {Path(path).name for path in paths}
    assert named | {"package.json", "package-lock.json"} == {
        path.name for path in FOLDER.iterdir() if path.is_file()
    }
    assert json.loads((FOLDER / grammar["path"]).read_text())["scopeName"] == grammar["scopeName"]
    assert json.loads((FOLDER / language["configuration"]).read_text())["brackets"]
    assert grammar["language"] == language["id"]
    assert MANIFEST["activationEvents"] == [f"onLanguage:{language['id']}", "onLanguage:xml"]
    # What the extension requires is what the manifest and the editor bring.
    required = re.findall(r'require\("([\w-]+)', (FOLDER / MANIFEST["main"]).read_text())
    assert set(required) == {"node", "vscode", *MANIFEST["dependencies"]}


SNIPPETS = json.loads((FOLDER / "snippets.json").read_text())


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_has_no_finding_where_it_is_inserted(name):
    def fill(snippet):
        body = snippet["body"] if isinstance(snippet["body"], str) else "\n".join(snippet["body"])
        body = re.sub(r"\$\{\d+\|([^,|]+)[^}]*\}", r"\1", body)
        return re.sub(r"\$\{\d+:([^}]*)\}", r"\1", body)

    text = fill(SNIPPETS["Template"])
    text = text.replace("$0", "" if name == "Template" else fill(SNIPPETS[name]).replace("$0", ""))
    options = RenderOptions(now=datetime(2026, 11, 21, tzinfo=UTC), with_sample=True)
    findings = [
        each.message
        for each in validate(prepare_template(text.encode()), None, options=options)
        if each.code != "missing-image"
    ]
    assert findings == []


def test_templates_are_recognised_by_their_first_line():
    [language] = MANIFEST["contributes"]["languages"]
    for line in ('<document version="1">', "  <document>"):
        assert re.match(language["firstLine"], line)
    for line in ("<documents>", "<html>", '<?xml version="1.0"?>'):
        assert not re.match(language["firstLine"], line)


def test_its_command_is_one_of_the_command_line_and_no_folder_can_change_it():
    setting = MANIFEST["contributes"]["configuration"]["properties"]["pressroom.command"]
    program, command = setting["default"]
    assert program == "pressroom"
    assert build_parser().parse_args([command]).run  # `test_language_server` speaks to it
    assert setting["scope"] == "machine"
    assert (
        MANIFEST["contributes"]["configuration"]["properties"]["pressroom.url"]["scope"]
        == "machine"
    )


@pytest.mark.services
def test_the_extension_has_no_error_of_types_and_is_packaged():
    made = subprocess.run(
        ["make", "vscode"],
        cwd=FOLDER.parents[2],
        env={name: value for name, value in os.environ.items() if name != "MAKEFLAGS"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    with zipfile.ZipFile(FOLDER.parents[2] / "build/pressroom.vsix") as package:
        names = set(package.namelist())
    assert {"extension/extension.js", "extension/snippets.json"} <= names
    assert any("/node_modules/vscode-languageclient/" in name for name in names)


# Stand for the editor and its client of language servers; prints what the extension asks of them.
EDITOR = """
const texts = JSON.parse(process.argv[2]);
const open = texts.map(([languageId, text, fsPath]) => ({ languageId, getText: () => text, positionAt: (at) => at, uri: { fsPath } }));
let listen;
module.exports = {
  Range: class {},
  ViewColumn: {},
  Uri: { parse: (text) => Object.assign(new URL(text), { scheme: "http", authority: new URL(text).host }) },
  env: { asExternalUri: async (address) => address },
  CompletionItemKind: { Property: 9, Value: 11 },
  SnippetString: class { constructor(value) { this.value = value; } },
  commands: { registerCommand: (name, run) => (module.exports[name] = run) },
  workspace: {
    textDocuments: open,
    onDidOpenTextDocument: (listener) => ((listen = listener), { dispose() {} }),
    getConfiguration: () => ({ get: (name) => (name === "command" ? JSON.parse(process.argv[4]) : process.argv[3] === "on") }),
    asRelativePath: (path) => path,
  },
  languages: {
    setTextDocumentLanguage: (document, language) => {
      document.languageId = language;
      listen(document); // as the editor does
    },
  },
  window: {
    activeTextEditor: { document: open[0] },
    createWebviewPanel: (kind, title) => {
      let close;
      const set = async (html) => {
        const address = /src="([^"]+)"/.exec(html)[1];
        const { status, headers } = await fetch(address);
        console.log(JSON.stringify([title, status, headers.get("content-security-policy")]));
        close();
      };
      return { onDidDispose: (listener) => (close = listener), dispose() {}, webview: { set html(text) { set(text); } } };
    },
  },
};
"""
CLIENT = """
exports.LanguageClient = class {
  constructor(id, name, server, options) {
    console.log(JSON.stringify(server));
    exports.middleware = options.middleware;
  }
  async start() {}
};
"""
COMPLETION = """
require("./extension.js").activate({ subscriptions: [] });
const found = [{ kind: 9, insertText: 'align=""' }, { kind: 11, insertText: "start" }];
const { middleware } = require("vscode-languageclient/node");
middleware.provideCompletionItem(null, null, null, null, async () => found).then((items) => console.log(JSON.stringify(items)));
"""
MAIN = """
require("./extension.js").activate({ subscriptions: [] });
console.log(JSON.stringify(require("vscode").workspace.textDocuments.map((each) => each.languageId)));
"""


@pytest.fixture
def open_files(tmp_path):
    """Provide a function that starts the extension in an editor with files; returns languages and servers."""
    node = shutil.which("node")
    assert node, "node is missing; see deploy/setup/need-node.sh"
    shutil.copy(FOLDER / MANIFEST["main"], tmp_path)
    for name, text in {
        "node_modules/vscode/index.js": EDITOR,
        "node_modules/vscode-languageclient/node.js": CLIENT,
        "main.js": MAIN,
        "completion.js": COMPLETION,
        "preview.js": 'require("./extension.js").activate({ subscriptions: [] }); require("vscode")["pressroom.preview"]();',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def open_files(files, *, recognize="on", program=("pressroom", "lsp"), main="main.js"):
        command = [node, main, json.dumps(files), recognize, json.dumps(program)]
        run = subprocess.run(
            command, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60
        )
        *servers, last = map(json.loads, run.stdout.splitlines())
        return last, servers

    return open_files


TEMPLATES = (
    "<document><flow/></document>",
    '\n<document version="1">',
    '<?xml version="1.0"?>\n<!-- A -- letter -->\n<!-- of two -->\n<document>',
)
OTHERS = (
    "<documents/>", "<document-content/>", '<document xmlns="urn:another">',
    "<html><document/></html>", "<!-- <document> -->", "",
)  # fmt: skip


@pytest.mark.services
def test_xml_files_that_are_templates_are_recognised_and_share_one_server(open_files):
    languages, servers = open_files([["xml", text] for text in (*TEMPLATES, *OTHERS)])
    assert languages == ["pressroom"] * len(TEMPLATES) + ["xml"] * len(OTHERS)
    assert servers == [{"command": "pressroom", "args": ["lsp"]}]


@pytest.mark.services
def test_other_xml_files_start_no_server_and_recognition_can_be_switched_off(open_files):
    assert open_files([["xml", text] for text in OTHERS])[1] == []
    assert open_files([["xml", TEMPLATES[0]]], recognize="off") == (["xml"], [])
    assert open_files([["pressroom", ""]], recognize="off")[1] != []


@pytest.mark.services
def test_a_completed_attribute_opens_its_values_between_its_quotes(open_files):
    [attribute, value], _ = open_files([["pressroom", ""]], main="completion.js")
    assert attribute["insertText"]["value"] == 'align="$1"'
    assert attribute["command"]["command"] == "editor.action.triggerSuggest"
    assert value == {"kind": 11, "insertText": "start"}


@pytest.mark.services
def test_the_pages_are_shown_beside_the_text_by_the_preview_command(open_files, tmp_path):
    """The server of the pages starts with the program of the setting, lets the editor frame it, and ends with the panel."""
    file = tmp_path / "letter.xml"
    file.write_text("<document><flow><p>Hello</p></flow></document>")
    program = [sys.executable, "-m", "deploy.cli.main", "lsp"]
    shown, _ = open_files([["pressroom", "", str(file)]], program=program, main="preview.js")
    assert shown[:2] == [str(file), 200]
    assert shown[2].endswith("frame-ancestors 'self' vscode-file: vscode-webview:")
