"""`pressroom form extract` prints the fields of a filled-in form."""

from __future__ import annotations

import json

from deploy.cli.main import main
from tests.engine.paint.test_form_fields import FIELDS, made


def test_names_and_values_are_printed(tmp_path, capsys):
    (tmp_path / "f.pdf").write_bytes(made(FIELDS))
    assert main(["form", "extract", str(tmp_path / "f.pdf")]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["who: Ada", "to: -"]


def test_json_has_all_that_the_api_returns(tmp_path, capsys):
    (tmp_path / "f.pdf").write_bytes(made(FIELDS))
    assert main(["form", "extract", str(tmp_path / "f.pdf"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["fields"][0]["label"] == "Who"
    assert not report["xfa"]


def test_a_file_that_is_no_form_is_an_error(tmp_path, capsys):
    (tmp_path / "f.pdf").write_bytes(b"no")
    assert main(["form", "extract", str(tmp_path / "f.pdf")]) == 1
    assert "not a PDF" in capsys.readouterr().err
    assert main(["form", "extract", str(tmp_path / "missing.pdf")]) == 1
    assert "cannot be read" in capsys.readouterr().err
