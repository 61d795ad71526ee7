"""Some mutated documents find nothing; `make fuzz` continues for longer."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.fuzz.fuzz import ROOT, judge
from workers.engine.diagnostics import Diagnostic, Severity

ROUNDS = 300
ERROR = Diagnostic(Severity.ERROR, "unknown-color", "a")


@pytest.mark.long
def test_mutated_documents_find_nothing():
    command = [sys.executable, "tests/fuzz/fuzz.py", "--rounds", str(ROUNDS), "--seed", "2026"]
    ended = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-2000:]
    assert f"to {ROUNDS}: 0 finds" in ended.stdout


@pytest.mark.parametrize(
    "document",
    [
        '<document><style element="document" color="k"/><flow/></document>',
        '<document><style element="document" page="k"/><flow/></document>',
        '<document><style element="p" border="1pt solid k"/><flow><p>a</p></flow></document>',
        '<document><style element="p" extends="k"/><flow><p>a</p></flow></document>',
        '<document><flow/><flow name="k"><barcode type="ean13" alt="" value="1"/></flow></document>',
    ],
)
def test_validation_and_rendering_agree(document):
    assert judge(document.encode(), None) is None
    assert judge(document.encode() + b"\n", None) is None  # once a template, once a payload
