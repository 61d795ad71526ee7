"""`pressroom lsp` as an editor speaks to it: a process, by standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager

import pytest

from deploy.cli.main import main
from deploy.tools.lsp.server import find_correction

URI = "file:///t.xml"
TEXT = '<document>\n<flow>\n<p colour="red">ä😀{{ absent }}</p>\n</flow>\n</document>\n'


class Editor:
    def __init__(self, process):
        self._process = process
        self._count = 0

    def tell(self, method, parameters):
        self._send({"method": method, "params": parameters})

    def ask(self, method, parameters):
        self._count += 1
        self._send({"id": self._count, "method": method, "params": parameters})
        return self.wait(lambda message: message.get("id") == self._count)["result"]

    def wait(self, is_it):
        while True:
            message = self._read()
            if is_it(message):
                return message

    def findings(self):
        told = self.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics")
        return told["params"]["diagnostics"]

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _read(self):
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        assert length, "the server ended"
        return json.loads(self._process.stdout.read(length))


@contextmanager
def running():
    process = subprocess.Popen(
        [sys.executable, "-m", "deploy.cli.main", "lsp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.fixture
def editor():
    with running() as process:
        editor = Editor(process)
        shown = editor.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        assert shown["capabilities"]["documentFormattingProvider"]
        editor.tell("initialized", {})
        document = {"uri": URI, "languageId": "xml", "version": 1, "text": TEXT}
        editor.tell("textDocument/didOpen", {"textDocument": document})
        yield editor
        editor.ask("shutdown", None)
        editor.tell("exit", None)
        assert process.wait(20) == 0


def at(line, character):
    return {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}}


def in_line(line):
    place = {"line": line, "character": 5}
    return {
        "textDocument": {"uri": URI},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": []},
    }


@pytest.mark.parametrize(
    ("message", "element", "tag", "offsets"),
    [
        ('Unknown element "tabel"; did you mean "table"?', "<tabel><tr/></tabel>", "tabel", (1, 14)),
        ('Unknown element "tabel"; did you mean "table"?', "<tabel/>", "tabel", (1,)),
        ('`p` has no attribute `colour`; did you mean "color"?', '<p colour="red">', "p", (3,)),
        ('Unknown filter "curency"; did you mean "currency"?', "<p>{{ a | curency }}</p>", "p", (10,)),
    ],
)  # fmt: skip
def test_a_suggestion_is_found_where_its_name_is_written(message, element, tag, offsets):
    assert find_correction(message, element, tag).offsets == offsets


def test_a_name_that_is_not_in_the_element_and_a_message_without_suggestion_have_no_fix():
    assert find_correction('`p` has no attribute `a`; did you mean "b"?', "<p/>", "p") is None
    assert find_correction("The text is not well-formed", "<p/>", "p") is None


def test_without_its_extra_the_command_names_the_package_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pygls", None)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    monkeypatch.delitem(sys.modules, "deploy.tools.lsp.server", raising=False)
    assert main(["lsp"]) == 1
    assert "pip install '.[lsp]'" in capsys.readouterr().err


@pytest.mark.long
def test_an_editor_gets_findings_completion_hover_and_formatting(editor):
    [wrong, *_] = editor.findings()
    assert wrong["code"] == "unknown-attribute"
    assert wrong["source"] == "pressroom"
    assert wrong["severity"] == 1
    # The misspelled name is marked, not its element.
    assert wrong["range"]["start"] == {"line": 2, "character": 3}
    assert wrong["range"]["end"] == {"line": 2, "character": 9}
    offered = editor.ask("textDocument/completion", at(2, 3))
    assert {"color", "font-size"} <= {item["label"] for item in offered}
    assert [item["sortText"] for item in offered] == sorted(item["sortText"] for item in offered)
    explained = editor.ask("textDocument/hover", at(2, 1))
    assert explained["contents"]["value"].startswith("**p**: ")
    [fix] = editor.ask("textDocument/codeAction", in_line(2))
    assert fix["title"] == "Change to color"
    [edit] = fix["edit"]["changes"][URI]
    assert edit["newText"] == "color"
    assert edit["range"]["start"] == {"line": 2, "character": 3}
    assert edit["range"]["end"] == {"line": 2, "character": 9}
    assert editor.ask("textDocument/codeAction", in_line(0)) == []
    options = {"tabSize": 2, "insertSpaces": True}
    [edit] = editor.ask(
        "textDocument/formatting", {"textDocument": {"uri": URI}, "options": options}
    )
    assert edit["newText"].startswith("<document>\n  <flow>\n    <p colour=")
    change = {"text": "<document><flow><p>a</p></flow></document>\n"}
    editor.tell(
        "textDocument/didChange",
        {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [change]},
    )
    assert editor.findings() == []
    # Of an element without a misspelled name the start tag is marked. Characters beyond the first
    # plane are two units of an editor.
    change = {"text": "<document><flow><p id='😀😀'>{{ 1 +\n}}</p></flow></document>\n"}
    editor.tell(
        "textDocument/didChange",
        {"textDocument": {"uri": URI, "version": 3}, "contentChanges": [change]},
    )
    [wrong, *_] = editor.findings()
    assert wrong["range"]["start"] == {"line": 0, "character": 16}
    assert wrong["range"]["end"] == {"line": 0, "character": 29}
    change = {"text": "<document>"}
    editor.tell(
        "textDocument/didChange",
        {"textDocument": {"uri": URI, "version": 4}, "contentChanges": [change]},
    )
    assert [each["code"] for each in editor.findings()] == ["not-well-formed"]
    assert editor.ask(
        "textDocument/formatting", {"textDocument": {"uri": URI}, "options": options}
    ) in ([], None)
    editor.tell("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert editor.findings() == []
