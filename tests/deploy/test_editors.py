"""The extension for VS Code: its manifest names files that exist, and a server that answers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from deploy.cli.commands import build_parser

FOLDER = Path(__file__).parents[2] / "deploy/editors/vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text())


def test_the_manifest_names_files_that_exist():
    contributes = MANIFEST["contributes"]
    [language], [grammar] = contributes["languages"], contributes["grammars"]
    for name in (MANIFEST["main"], language["configuration"], grammar["path"]):
        assert (FOLDER / name).is_file()
    assert json.loads((FOLDER / grammar["path"]).read_text())["scopeName"] == grammar["scopeName"]
    assert json.loads((FOLDER / language["configuration"]).read_text())["brackets"]
    assert grammar["language"] == language["id"]
    assert MANIFEST["activationEvents"] == [f"onLanguage:{language['id']}", "onLanguage:xml"]
    # What the extension requires is what the manifest and the editor bring.
    required = re.findall(r'require\("([\w-]+)', (FOLDER / MANIFEST["main"]).read_text())
    assert set(required) == {"vscode", *MANIFEST["dependencies"]}


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


@pytest.mark.services
def test_the_program_is_well_formed():
    node = shutil.which("node")
    assert node, "node is missing; see deploy/setup/need-node.sh"
    subprocess.run([node, "--check", FOLDER / MANIFEST["main"]], check=True)


# Stand for the editor and its client of language servers; prints what the extension asks of them.
EDITOR = """
const texts = JSON.parse(process.argv[2]);
const open = texts.map(([languageId, text]) => ({ languageId, getText: () => text, positionAt: (at) => at }));
let listen;
module.exports = {
  Range: class {},
  workspace: {
    textDocuments: open,
    onDidOpenTextDocument: (listener) => ((listen = listener), { dispose() {} }),
    getConfiguration: () => ({ get: (name) => (name === "command" ? ["pressroom", "lsp"] : process.argv[3] === "on") }),
  },
  languages: {
    setTextDocumentLanguage: (document, language) => {
      document.languageId = language;
      listen(document); // as the editor does
    },
  },
  window: {},
};
"""
CLIENT = """
exports.LanguageClient = class {
  constructor(id, name, server) { console.log(JSON.stringify(server)); }
  async start() {}
};
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
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def open_files(files, *, recognize="on"):
        command = [node, "main.js", json.dumps(files), recognize]
        run = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        *servers, languages = map(json.loads, run.stdout.splitlines())
        return languages, servers

    return open_files


TEMPLATES = (
    "<document><flow/></document>",
    '\n<document version="1">',
    '<?xml version="1.0"?>\n<!-- A -- letter -->\n<!-- of two -->\n<document>',
)
OTHERS = (
    "<documents/>",
    "<document-content/>",
    '<document xmlns="urn:another">',
    "<html><document/></html>",
    "<!-- <document> -->",
    "",
)


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
