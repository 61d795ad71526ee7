"""Invoices of others: XML, or inside a PDF, whole, broken or hostile."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zlib

import pikepdf
import pytest

from deploy.cli.main import main
from tests.engine.einvoices import samples
from workers.engine.einvoices.files import write_invoice
from workers.engine.einvoices.profiles import PROFILES
from workers.engine.einvoices.records import read_record
from workers.engine.invoice_checks import MAX_INVOICE, check_external_invoice
from workers.rules.judging import Judge

XML = write_invoice(read_record(samples.full())[0], PROFILES["en16931"])
WRONG = XML.replace(b">236.82</ram:Grand", b">236.92</ram:Grand")


def pdf_with(**files: bytes) -> bytes:
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        for name, content in files.items():
            pdf.attachments[name] = content
        out = io.BytesIO()
        pdf.save(out)
    return out.getvalue()


@pytest.mark.parametrize("content", [XML, pdf_with(**{"factur-x.xml": XML, "a.txt": b"a"})])
def test_a_sound_invoice_is_valid(content):
    report = check_external_invoice(content, Judge()).to_report()
    assert (report["valid"], report["errors"]) == (True, [])
    assert (report["profile"], report["number"]) == ("en16931", "2026-0042")


@pytest.mark.parametrize("content", [WRONG, pdf_with(**{"xrechnung.xml": WRONG})])
def test_a_wrong_total_is_reported(content):
    report = check_external_invoice(content, Judge()).to_report()
    assert report["valid"] is False
    assert [one["rule"] for one in report["errors"]] == ["BR-CO-15", "BR-CO-16"]
    assert report["errors"][1]["element"].endswith(
        "/ram:SpecifiedTradeSettlementHeaderMonetarySummation"
    )


def bomb() -> bytes:
    """Return a PDF whose invoice unpacks to a thousand times its size."""
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.attachments["factur-x.xml"] = b"x"
        stream = pdf.attachments["factur-x.xml"].get_file().obj
        packed = zlib.compress(b" " * (MAX_INVOICE + 2))
        stream.write(packed, filter=pikepdf.Name.FlateDecode)
        out = io.BytesIO()
        pdf.save(out, compress_streams=False, stream_decode_level=pikepdf.StreamDecodeLevel.none)
    return out.getvalue()


def locked() -> bytes:
    with pikepdf.open(io.BytesIO(pdf_with(**{"factur-x.xml": XML}))) as pdf:
        out = io.BytesIO()
        pdf.save(out, encryption=pikepdf.Encryption(user="a", owner="b"))
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no element found"),
        (b"%PDF-1.7 broken", "the PDF is damaged and cannot be read"),
        (b'<?xml version="1.0" encoding="utf-99"?><a/>', "its encoding is not known"),
        (pdf_with(), "contains no file named factur-x.xml"),
        (pdf_with(**{f"{n}.xml": XML for n in range(100)}), "contains no file named"),
        (pdf_with(**{"factur-x.xml": XML, "xrechnung.xml": XML}), "contains 2 invoices"),
        (pdf_with(**{"factur-x.xml": b"<a/>"}), "not a Cross Industry Invoice"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "document type declaration"),
        (bomb(), "more than 20,971,520 bytes"),
        (locked(), "encrypted"),
    ],
)
def test_data_that_are_not_an_invoice_report_the_reason(content, reason):
    report = check_external_invoice(content)
    assert not report.is_valid
    assert reason in report.reason


def test_the_command_prints_broken_rules(tmp_path, capsys):
    def check(*arguments, code):
        # A process of its own: while rules run it may open no file.
        words = ["-m", "deploy.cli.main", "einvoice", "check"]
        command = [sys.executable, *words, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    file = tmp_path / "invoice.xml"
    file.write_bytes(XML)
    assert "invoice 2026-0042: valid\nchecked by Factur-X EN16931 " in check(file, code=0)
    file.write_bytes(WRONG)
    assert "error: BR-CO-15 at /rsm:CrossIndustryInvoice/" in check(file, code=1)
    assert json.loads(check("--json", file, code=1))["valid"] is False
    assert main(["einvoice", "check", str(tmp_path / "none.xml")]) == 1
    file.write_bytes(b"<a/>")
    assert main(["einvoice", "check", str(file)]) == 1
    told = capsys.readouterr().err
    assert "cannot be read" in told
    assert "not a Cross Industry Invoice" in told
