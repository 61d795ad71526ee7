"""`pressroom fmt` on files."""

from __future__ import annotations

import io

import pytest

from deploy.cli.main import main

UGLY = "<document><flow>\n<p>a</p></flow></document>"
NEAT = "<document>\n  <flow>\n    <p>a</p>\n  </flow>\n</document>\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.xml"
    path.write_text(UGLY)
    path.chmod(0o640)
    return path


def test_a_file_is_replaced_by_its_formatted_text(file, capsys):
    assert main(["fmt", str(file)]) == 0
    assert file.read_text() == NEAT
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in file.parent.iterdir()] == ["t.xml"]
    assert capsys.readouterr().out == f"{file} formatted\n"
    assert main(["fmt", str(file)]) == 0
    assert capsys.readouterr().out == ""


def test_a_link_stays_a_link(file):
    link = file.with_name("link.xml")
    link.symlink_to(file)
    assert main(["fmt", str(link)]) == 0
    assert link.is_symlink()
    assert file.read_text() == NEAT


def test_check_changes_nothing_and_lists_the_files(file, capsys):
    neat = file.with_name("neat.xml")
    neat.write_text(NEAT)
    assert main(["fmt", "--check", str(neat), str(file)]) == 1
    assert capsys.readouterr().out == f"{file} would be formatted\n"
    assert file.read_text() == UGLY
    assert main(["fmt", "--check", str(neat)]) == 0


def test_a_file_that_cannot_be_formatted_is_reported_and_the_others_are_formatted(file, capsys):
    broken = file.with_name("broken.xml")
    broken.write_text("<document>\n<flow></document>")
    assert main(["fmt", str(broken), str(file)]) == 1
    assert capsys.readouterr().err.startswith(f"{broken}:2:9: error: The text is not well-formed")
    assert broken.read_text() == "<document>\n<flow></document>"
    assert file.read_text() == NEAT


def test_a_missing_file_is_reported(tmp_path, capsys):
    assert main(["fmt", str(tmp_path / "no.xml")]) == 1
    assert "no.xml cannot be read" in capsys.readouterr().err


def test_standard_input_is_formatted_to_standard_output(monkeypatch, capsysbinary):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(UGLY.encode())))
    assert main(["fmt", "-"]) == 0
    assert capsysbinary.readouterr().out == NEAT.encode()
