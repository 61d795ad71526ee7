"""The extension for VS Code: its manifest names files that exist, and a server that answers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from deploy.cli.main import build_parser

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
    assert MANIFEST["activationEvents"] == [f"onLanguage:{language['id']}"]
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
    assert build_parser(command).parse_args([command]).run  # `test_language_server` speaks to it
    assert setting["scope"] == "machine"


@pytest.mark.services
def test_the_program_is_well_formed():
    node = shutil.which("node")
    assert node, "node is missing; see deploy/setup/need-node.sh"
    subprocess.run([node, "--check", FOLDER / MANIFEST["main"]], check=True)
