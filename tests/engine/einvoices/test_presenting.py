"""A received invoice made readable: every value of every syntax is on the page and on the terminal."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal

import pypdfium2
import pytest

from deploy.cli.main import main
from tests.engine.einvoices import samples
from tests.engine.einvoices.test_external import WRONG, XML, pdf_with
from workers.engine.einvoices import list_terms, present_record, read_invoice
from workers.engine.einvoices.files import write_invoice
from workers.engine.einvoices.profiles import PROFILES
from workers.engine.einvoices.records import read_record

SYNTAXES = [("en16931", "cii"), ("xrechnung", "ubl"), ("extended", "cii"), ("peppol", "ubl")]


def leaves(value):
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [value]


@pytest.mark.parametrize(("profile", "syntax"), SYNTAXES)
def test_every_value_of_an_invoice_is_among_its_terms(profile, syntax):
    record, _ = read_record(samples.full())
    read = read_invoice(write_invoice(record, PROFILES[profile], syntax)).record
    assert len(list(list_terms(read))) == len(leaves(read)) > 130


def test_the_data_of_a_page_have_each_term_once():
    record = read_invoice(XML).record
    page = present_record(record)
    terms = [one for section in page["sections"] for one in section["terms"]]
    terms += [one for line in page["lines"] for one in line["terms"]]
    columns = sum(len(line) - 1 for line in page["lines"])
    assert len(terms) + columns == len(leaves(record))
    assert page["lines"][0]["price"] == Decimal("89.90")


def show(tmp_path, content, *more):
    """Run the command in a process of its own, which may open no file while rules run."""
    (tmp_path / "in").write_bytes(content)
    command = [sys.executable, "-m", "deploy.cli.main", "einvoice", "show", tmp_path / "in", *more]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def text_of(file):
    with pypdfium2.PdfDocument(file) as document:
        return "".join(one.get_textpage().get_text_range() for one in document)


def test_an_invoice_is_shown_on_a_terminal_and_as_a_pdf(tmp_path):
    text = show(tmp_path, XML)
    show(tmp_path, pdf_with(**{"factur-x.xml": XML}), "--pdf", tmp_path / "out")
    page = text_of(tmp_path / "out")
    for shown in (text, "".join(page.split())):
        for leaf in leaves(read_invoice(XML).record):
            if not isinstance(leaf, bytes | date | Decimal):
                assert leaf in shown or "".join(leaf.split()) in shown
    assert "invoice 2026-0042: valid" in text
    assert "2 March 2026" in page


def test_findings_stand_on_the_page(tmp_path):
    show(tmp_path, WRONG, "--pdf", tmp_path / "out")
    page = text_of(tmp_path / "out")
    assert "The invoice is not valid." in page
    assert "BR-CO-16" in page


def test_what_is_no_invoice_is_not_shown(tmp_path, capsys):
    (tmp_path / "in").write_bytes(b"<note/>")
    assert main(["einvoice", "show", str(tmp_path / "in")]) != 0
    assert "not a Cross Industry Invoice" in capsys.readouterr().err
