"""The process of rule packs, started for real: what it answers, refuses and survives."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.engine.einvoices import samples
from workers.engine.einvoices import PROFILES, read_invoice, read_record, write_invoice
from workers.rules.client import RuleClient, RuleProcess

INVOICE = write_invoice(read_record(samples.full())[0], PROFILES["peppol"], "ubl")
SHEET = """<xsl:stylesheet version="3.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
 xmlns:svrl="http://purl.oclc.org/dsdl/svrl" xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
 <xsl:template match="/"><svrl:schematron-output><svrl:failed-assert id="A-1" location="/">
 <svrl:text><xsl:value-of select="{}"/></svrl:text></svrl:failed-assert></svrl:schematron-output></xsl:template>
</xsl:stylesheet>"""


def add_pack(folder: Path, expression: str, name: str = "own", **manifest: object) -> None:
    """Write a pack whose only rule is broken by every invoice, with the value of an expression."""
    pack = folder / name
    pack.mkdir(exist_ok=True)
    (pack / "rules.xslt").write_text(SHEET.replace("{}", expression))
    described = {"name": name, "version": "1", "syntax": "ubl", "serves": ["*peppol*"], "rules": ["rules.xslt"]}  # fmt: skip
    (pack / "pack.json").write_text(json.dumps(described | manifest))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Serve a folder of packs; return it with a client."""
    folder = tmp_path_factory.mktemp("rules")
    process = RuleProcess(str(folder))
    process.start()
    return folder, RuleClient(process.address)


def judge(served, expression: str):
    folder, client = served
    add_pack(folder, expression)
    manifest = folder / "own" / "pack.json"
    later = manifest.stat().st_mtime + 10
    for path in (manifest, folder / "own" / "rules.xslt"):
        os.utime(path, (later, later))
    return client.judge(INVOICE, read_invoice(INVOICE).facts)


def test_a_pack_that_changes_is_read_again(served):
    for text in ("first", "second"):
        verdict = judge(served, f"concat('{text} ', /*/cbc:ID)")
        assert [one.message for one in verdict.findings] == [f"{text} 2026-0042"]
        assert verdict.checked_by[0].pack == "own"


@pytest.mark.parametrize(
    "expression",
    [
        "unparsed-text('file:///etc/passwd')",
        "unparsed-text(concat('file:///etc/', 'passwd', string(//nothing)))",
        "doc(concat('file://', '/etc/hostname', string(//nothing)))",
        "doc('http://127.0.0.1:1/a')",
        "collection(concat('/etc', string(//nothing)))",
        "environment-variable('PATH')",
    ],
)
def test_a_rule_reads_no_file_connection_or_environment(served, expression):
    verdict = judge(served, expression)
    assert "ended with an error" in verdict.note or verdict.findings[0].message == ""


@pytest.mark.long
@pytest.mark.parametrize(
    "expression",
    [
        "count(for $i in 1 to 100000, $j in 1 to 1000000 return $i[matches(string($j), 'x')])",
        "string-length(string-join(for $i in 1 to 1000000000 return 'aaaaaaaaaaaaaaaa'))",
    ],
    ids=["time", "memory"],
)
def test_a_rule_without_bounds_is_stopped_and_the_next_is_run(served, expression):
    verdict = judge(served, expression)
    assert verdict.is_valid is None
    assert "did not end within 10 s" in verdict.note
    assert judge(served, "'next'").findings[0].message == "next"
