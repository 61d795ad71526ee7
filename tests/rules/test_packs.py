"""Archives of rules as their publishers ship them, added by the command and used at once."""

from __future__ import annotations

import json
import zipfile

import pytest

from deploy.cli.main import main
from tests.engine.einvoices import samples
from tests.rules.test_process import SHEET
from workers.engine.einvoices import PROFILES, InvoiceFacts, read_record, write_invoice
from workers.engine.invoice_checks import check_external_invoice
from workers.rules.judging import Judge

XRECHNUNG = PROFILES["xrechnung"].guideline
EXTENSION = f"{XRECHNUNG}#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0"
RULES = SHEET.replace("{}", "'own'")
SCENARIO = """<scenario><name>XRechnung {name}</name>
<match>exists(/invoice:Invoice/cbc:CustomizationID[ . = '{identifier}'])</match>
<validateWithXmlSchema><resource><name>a</name><location>xsd/own.xsd</location></resource></validateWithXmlSchema>
<validateWithSchematron><resource><name>b</name><location>core.xsl</location></resource></validateWithSchematron>
<validateWithSchematron><resource><name>c</name><location>own.xsl</location></resource></validateWithSchematron>
<createReport>{levels}</createReport></scenario>"""
SCENARIOS = (
    '<scenarios xmlns="http://www.xoev.de/de/validator/framework/1/scenarios"><date>2026-08-31</date>'
    + SCENARIO.format(name="Standard", identifier=XRECHNUNG, levels="")
    + SCENARIO.format(
        name="Extension",
        identifier=EXTENSION,
        levels='<customLevel level="information">A-1</customLevel>',
    )
    + "</scenarios>"
)
ANY = (
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" '
    'targetNamespace="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2">'
    '<xs:element name="Invoice"/></xs:schema>'
)
KOSIT = {
    "config/scenarios.xml": SCENARIOS,
    "config/xsd/own.xsd": ANY,
    "config/core.xsl": RULES,
    "config/own.xsl": RULES,
}
GERMAN = {
    "EN16931-UBL-validation.xsl": RULES.replace("A-1", "BR-CO-16"),
    "XRechnung-UBL-validation.xsl": RULES,
}
PEPPOL = {"xslt/CEN-EN16931-UBL.xslt": RULES, "xslt/PEPPOL-EN16931-UBL.xslt": RULES}


@pytest.fixture
def rules(tmp_path, monkeypatch):
    """Return a function that adds an archive of files, and that of packs."""
    folder = tmp_path / "rules"
    folder.mkdir()
    monkeypatch.setenv("PRESSROOM_RULES", str(folder))

    def add(files, name="archive"):
        archive = tmp_path / f"{name}.zip"
        with zipfile.ZipFile(archive, "w") as made:
            for path, content in files.items():
                made.writestr(path, content)
        return main(["rules", "add", str(archive)])

    add.folder = str(folder)
    return add


def judged(rules, guideline):
    record, _ = read_record(samples.full())
    content = write_invoice(record, PROFILES["peppol"], "ubl")
    content = content.replace(PROFILES["peppol"].guideline.encode(), guideline.encode())
    return check_external_invoice(content, Judge(rules.folder)).to_report()


def test_scenarios_of_kosit_name_files_identifiers_and_levels(rules):
    assert rules(KOSIT) == 0
    report = judged(rules, XRECHNUNG)
    assert report["checked_by"] == [{"pack": "XRechnung Standard", "version": "", "date": "2026-08-31"}]  # fmt: skip
    assert (report["valid"], len(report["errors"]), report["warnings"]) == (False, 2, [])
    extended = judged(rules, EXTENSION)
    assert (extended["valid"], extended["errors"], len(extended["warnings"])) == (True, [], 2)


@pytest.mark.parametrize(
    ("files", "name", "guideline"),
    [
        (PEPPOL, "Peppol BIS Billing UBL", PROFILES["peppol"].guideline),
        ({"xslt/EN16931-UBL-validation.xslt": RULES}, "EN 16931 UBL", "urn:cen.eu:en16931:2017"),
        (GERMAN, "XRechnung UBL", XRECHNUNG),
        (GERMAN, "XRechnung UBL", f"{XRECHNUNG}#compliant#urn:xeinkauf.de:kosit:xrechnung:cvd_0.9"),
        ({"a/EXTENDED-CTC-FR-UBL.xslt": RULES}, "EXTENDED-CTC-FR UBL", "urn:cen.eu:en16931:2017#conformant#urn.cpro.gouv.fr:1p0:extended-ctc-fr"),
    ],
)  # fmt: skip
def test_files_of_known_names_are_packs(rules, files, name, guideline):
    assert rules(files) == 0
    report = judged(rules, guideline)
    assert [one["pack"] for one in report["checked_by"]] == [name]
    assert len(report["errors"]) == len(files)


def test_rules_that_the_extension_of_xrechnung_replaces_are_warnings(rules):
    assert rules(GERMAN) == 0
    report = judged(rules, EXTENSION)
    assert [one["pack"] for one in report["checked_by"]] == ["XRechnung Extension UBL"]
    assert [one["rule"] for one in report["errors"]] == ["A-1"]
    assert [one["rule"] for one in report["warnings"]] == ["BR-CO-16"]


def test_a_pack_of_its_own_is_listed_used_and_removed(rules, capsys):
    own = {"name": "Our customer", "version": "7", "syntax": "ubl", "serves": ["urn:x*"], "rules": ["r.xslt"]}  # fmt: skip
    assert rules({"pack.json": json.dumps(own), "r.xslt": RULES}, "own") == 0
    assert judged(rules, "urn:x:1")["checked_by"][0]["pack"] == "Our customer"
    assert main(["rules", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out.splitlines()[-1])["packs"]
    assert listed[0]["name"] == "Our customer"
    assert "Factur-X EN16931" in {one["name"] for one in listed}
    assert main(["rules", "remove", "own"]) == 0
    report = judged(rules, "urn:x:1")
    assert (report["valid"], report["checked_by"]) == (None, [])
    assert main(["rules", "remove", "own"]) == 1


@pytest.mark.parametrize(
    "guideline", ["urn:peppol:pint:billing-1@jp-1", "urn:peppol:pint:billing-1@aunz-1"]
)
def test_invoices_of_pint_are_judged_by_a_pack(rules, guideline):
    pint = {"name": "PINT", "syntax": "ubl", "serves": ["urn:peppol:pint:billing-1@*"], "rules": ["pint.xslt"]}  # fmt: skip
    assert judged(rules, guideline)["valid"] is None
    rules({"pack.json": json.dumps(pint), "pint.xslt": RULES})
    report = judged(rules, guideline)
    assert (report["valid"], report["checked_by"][0]["pack"]) == (False, "PINT")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.sch": "<a/>"}, "no compiled Schematron"),
        ({"pack.json": "{"}, "truncated"),
        ({"pack.json": '{"name": "a", "syntax": "ubl", "rules": ["../a"]}'}, "no file '../a'"),
        ({"scenarios.xml": SCENARIOS}, "no file 'xsd/own.xsd'"),
    ],
)
def test_what_is_no_pack_is_refused_with_the_reason(rules, capsys, files, reason):
    assert rules(files) == 1
    assert reason in capsys.readouterr().err
    assert judged(rules, "urn:x:1")["checked_by"] == []


def test_a_pack_of_a_country_judges_beside_others_or_alone(rules):
    own = {"name": "A", "syntax": "ubl", "country": "SI", "rules": ["r.xslt"]}
    rules({"pack.json": json.dumps(own), "r.xslt": RULES})
    for country, count in (("SI", 2), ("AT", 1)):
        facts = InvoiceFacts("ubl", "Invoice", "urn:cen.eu:en16931:2017", country)
        record, _ = read_record(samples.full())
        content = write_invoice(record, PROFILES["en16931"], "ubl")
        assert len(Judge(rules.folder).judge(content, facts).checked_by) == count
