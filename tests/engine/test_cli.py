"""The engine's command line, on files alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.engine.cli import main

DOCUMENT = (
    '<document><data><json>{"n": "World"}</json></data><flow><p>Hello {{ n }}</p></flow></document>'
)


@pytest.fixture
def document(tmp_path: Path) -> Path:
    file = tmp_path / "hello.xml"
    file.write_text(DOCUMENT)
    return file


def test_render_writes_the_pdf(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = document.with_suffix(".pdf")
    assert main(["render", str(document), "-o", str(output)]) == 0
    assert output.read_bytes().startswith(b"%PDF-1.7")
    assert "pages 1" in capsys.readouterr().out


def test_data_make_the_document_a_template(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = document.with_name("data.json")
    data.write_text('{"n": [1]}')
    assert main(["check", str(document), "--data", str(data)]) == 1
    assert "A list cannot be shown as text" in capsys.readouterr().out


def test_check_shows_the_line_with_a_caret(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document.write_text("<document>\n<flow>\n  <p>{{ m }}</p>\n</flow></document>")
    assert main(["check", str(document)]) == 1
    shown = capsys.readouterr().out
    assert 'hello.xml:3:3: error: The name "m" is not known' in shown
    assert "    3 |   <p>{{ m }}</p>\n      |   ^^^^^^^^^^^^^^" in shown
    assert "1 error, 0 warnings" in shown


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["check"], "name a document"),
        (["check", "missing.xml"], "missing.xml cannot be read"),
        (["check", "a.xml", "--template", "b.xml", "--data", "c.json"], "only one of"),
        (["check", "a.xml", "--flow", "notes"], "requires --markdown"),
        (["check", "a.xml", "--images", "/nowhere"], "is not a folder"),
    ],
)
def test_mismatched_inputs_are_reported(
    arguments: list[str], reported: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert reported in capsys.readouterr().err


def test_images_come_from_the_folder_and_from_nowhere_else(document: Path) -> None:
    from workers.engine.cli import FolderResources

    (document.parent / "logo.png").write_bytes(b"png")
    images = FolderResources(document.parent)
    assert images.find_image("logo") == b"png"
    assert images.find_image("../logo") is None
    assert images.find_image("other") is None
