"""Documents that are electronic invoices: what is put into the file, and how pages are compared."""

from __future__ import annotations

import io
import json
import statistics
from dataclasses import replace
from time import process_time

import pikepdf
import pytest

from tests.engine.einvoices import samples
from tests.engine.einvoices.official import find_broken, find_schema_errors
from tests.engine.finish.archive_rules import find_violations
from tests.golden.case import OPTIONS as PLAIN_OPTIONS
from workers.engine.diagnostics import AuthoringError
from workers.engine.einvoices.files import read_invoice
from workers.engine.einvoices.findings import RuleViolation, Verdict
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind, Rendered
from workers.rules.judging import Judge

OPTIONS = replace(PLAIN_OPTIONS, judge=Judge())
FX = "{urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#}"
DATES = '<field name="invoice.issueDate" type="date"/>'
RULE_TOLD = (
    "The total with VAT (BT-112) must be that without (BT-109) plus the VAT (BT-110): stated 236, "
    "expected 236.82. BR-CO-15 is broken at /totals/withVat"
)
ALL = """<h1 term="BT-1">Invoice {{ invoice.number }}</h1>
<p>Issued <span term="BT-2">{{ invoice.issueDate | date('long') }}</span></p>
<table><col/><col/><tbody>
<tr for="l in invoice.lines"><td term="BT-153">{{ l.name }}</td><td term="BT-131">{{ l.netAmount | currency }}</td></tr>
</tbody><tfoot><tr><td>Total</td><td term="BT-112">{{ invoice.totals.withVat | currency }}</td></tr></tfoot></table>"""


def document(
    flow: str = ALL, *, data: object = None, head: str = "", profile: str = 'profile="en16931"'
) -> str:
    record = json.dumps({"invoice": samples.full() if data is None else data}, default=float)
    return (
        f'<document title="t" lang="en-GB" currency="EUR"><data><json><![CDATA[{record}]]></json>{DATES}</data>'
        f'{head}<einvoice {profile} from="invoice"/><flow>{flow}</flow></document>'
    )


def rendered(source: str) -> Rendered:
    return render(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)


def reported(source: str) -> list[tuple[str, str, str]]:
    """Return code, element and message of each error of a render, and see that validation finds them."""
    payload = Payload(PayloadKind.XML, source.encode())
    report = validate(None, payload, options=OPTIONS)
    with pytest.raises(AuthoringError) as caught:
        render(None, payload, options=OPTIONS)
    assert {one.code for one in report.errors} >= {one.code for one in caught.value.diagnostics}
    return [(one.code, one.chain[0].tag_name, one.message) for one in caught.value.diagnostics]


def changed(*changes: samples.Change) -> samples.Record:
    return samples.changed(samples.full(), samples.all_of(*changes))


@pytest.mark.long
@pytest.mark.parametrize(
    ("attribute", "name", "level", "relationship"),
    [
        ('profile="minimum"', "factur-x.xml", "MINIMUM", "/Data"),
        ('profile="basicwl"', "factur-x.xml", "BASIC WL", "/Data"),
        ('profile="basic"', "factur-x.xml", "BASIC", "/Alternative"),
        ('profile="en16931"', "factur-x.xml", "EN 16931", "/Alternative"),
        ('profile="extended"', "factur-x.xml", "EXTENDED", "/Alternative"),
        ('profile="xrechnung"', "xrechnung.xml", "XRECHNUNG", "/Alternative"),
    ],
)
def test_the_invoice_is_inside_a_pdf_a_3_that_names_it(attribute, name, level, relationship):
    data, profile = samples.full(), attribute.split('"')[1]
    if profile in ("basicwl", "basic"):  # which have no rounding
        data = changed(samples.drop("totals.rounding"), samples.put("totals.due", 200.30))
    made = rendered(document(data=data, profile=attribute))
    assert made.warnings == ()
    assert find_violations(made.pdf, 3) == []
    with pikepdf.open(io.BytesIO(made.pdf)) as pdf, pdf.open_metadata() as packet:
        assert list(pdf.attachments) == [name]
        assert pdf.Root.AF[0].AFRelationship == relationship
        content = pdf.attachments[name].get_file().read_bytes()
        assert packet[f"{FX}ConformanceLevel"] == level
        assert packet[f"{FX}DocumentFileName"] == name
        assert packet["pdfaid:part"] == "3"
    if profile != "xrechnung":
        assert find_schema_errors(content, profile) == []
        assert find_broken(content, profile) == set()
    assert read_invoice(content).deviations == ()


def test_the_same_invoice_is_the_same_bytes():
    assert rendered(document()).pdf == rendered(document()).pdf


def test_a_violated_rule_is_reported_at_the_invoice_with_its_position():
    [first, second] = reported(
        document("<p>a</p>", data=changed(samples.put("totals.withVat", 236)))
    )
    assert first == ("einvoice-rule", "einvoice", RULE_TOLD)
    assert "BR-CO-16" in second[2]


def test_a_violated_rule_is_reported_at_the_element_that_shows_its_term():
    data = changed(samples.put("totals.withVat", 236))
    [first, _] = reported(document('<p term="BT-112">236.00</p>', data=data))
    assert first[:2] == ("einvoice-rule", "p")


@pytest.mark.parametrize(
    "flow",
    [
        '<p term="BT-112">236.82</p>',
        '<p term="BT-112">Total €236.82</p>',
        '<p term="BT-112" lang="de">236,82 €</p>',
        '<p term="BT-109" lang="fr">203,80 €</p>',
        '<p term="BT-109" lang="ar-EG">{{ invoice.totals.withoutVat | currency }}</p>',
        '<p term="BT-109" lang="fa">{{ invoice.totals.withoutVat | number(2) }}</p>',
        '<p term="BT-2" lang="th">2 มีนาคม 2569</p>',
        '<p term="BT-2" lang="fa">{{ "2026-03-02" | parse_date("yyyy-MM-dd") | date("long") }}</p>',
        '<p term="BT-2">2 March 2026</p>',
        '<p term="BT-2">Berlin, 2026-03-02</p>',
        '<p term="BT-2" lang="de">2. März 2026</p>',
        '<p term="BT-2" lang="en-US">3/2/26</p>',
        '<p term="BT-2">02/03/2026</p>',
        '<p term="BT-1">No. <b>{{ invoice.number }}</b></p>',
        '<p><span term="BT-84">DE02 1203 0000 0000 2020 51</span> <span term="BT-84">DE75512108001245126199</span></p>',
        '<p term="BT-9"/>',
        '<p term="BT-22">Thank you &amp; good<br/>bye</p>',
    ],
)
def test_a_text_that_matches_the_invoice_is_accepted(flow):
    data = samples.full() if "BT-9" not in flow else changed(samples.drop("dueDate"))
    assert rendered(document(flow, data=data)).pages == 1


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ('<p term="BT-112">236.83</p>', 'shown as "236.83", the invoice states 236.82'),
        ('<p term="BT-112">-236.82</p>', "states 236.82"),
        ('<p term="BT-112">(236.82)</p>', "states 236.82"),
        ('<p term="BT-112">236,82</p>', "states 236.82"),  # a group sign in English
        ('<p term="BT-112">2 of 236.82</p>', "Set `term` on a `span` around this number alone"),
        ('<p term="BT-112"/>', 'shown as ""'),
        ('<p term="BT-112" lang="de">236.82</p>', "as the language of the element does"),
        ('<p term="BT-2">3 March 2026</p>', "states 2026-03-02"),
        ('<p term="BT-2" lang="en-US">02/03/2026</p>', "states 2026-03-02"),
        ('<p term="BT-1">12026-0042</p>', 'states "2026-0042"'),
        ('<p term="BT-64">a</p>', 'states "R"'),
        ('<p term="BT-87">a</p>', "states none"),
        ('<footer><p term="BT-1">other</p></footer>', 'states "2026-0042"'),
    ],
)
def test_a_text_that_contradicts_the_invoice_is_reported_at_its_element(flow, message):
    source = document("<p>a</p>" if "footer" in flow else flow)
    if "footer" in flow:
        source = source.replace("<einvoice", f"<page>{flow}</page><einvoice")
    [(code, tag, text)] = reported(source)
    assert (code, tag) == ("term-differs", "p")
    assert message in text


def test_lines_are_compared_in_their_order_and_number():
    rows = ALL.replace("invoice.lines", "invoice.lines | sort('netAmount')")
    assert {one[0] for one in reported(document(rows))} == {"term-differs"}
    rows = ALL.replace("invoice.lines", "invoice.lines | take(1)")
    found = reported(document(rows))
    assert {one[0] for one in found} == {"term-count"}
    assert "is shown 1 time, the invoice states it 2 times" in found[0][2]


def test_the_foot_of_a_table_is_compared():
    [(code, tag, _)] = reported(document(ALL.replace("totals.withVat", "totals.due")))
    assert (code, tag) == ("term-differs", "td")


def test_a_foot_may_show_the_total_that_the_table_added_up():
    flow = """<table><col/><total name="net" value="l.netAmount"/><tr for="l in invoice.lines"><td>{{ l.netAmount }}</td></tr>
    <tfoot><tr><td term="BT-106">{{ totals.net.all | currency }}</td></tr></tfoot></table>"""
    assert rendered(document(flow)).pages == 1
    wrong = samples.changed(samples.full(), samples.put("lines.1.netAmount", 31))
    assert (
        validate(None, Payload(PayloadKind.XML, document(flow).encode()), options=OPTIONS).errors
        == ()
    )
    assert "einvoice-rule" in {one[0] for one in reported(document(flow, data=wrong))}


def test_a_credit_note_may_print_a_minus():
    data = changed(samples.put("typeCode", "381"))
    assert rendered(document('<p term="BT-112">−€236.82</p>', data=data)).pages == 1


def test_a_negative_amount_may_stand_in_brackets_with_its_currency():
    data = changed(samples.put("totals.rounding", -36.48), samples.put("totals.due", 163.82))
    assert rendered(document('<p term="BT-114">(€36.48)</p>', data=data)).pages == 1


def test_an_invoice_on_demand_is_none_without_its_data():
    source = document().replace('from="invoice"', 'if="paper is none" from="invoice"')
    source = source.replace('{"invoice"', '{"paper": 1, "invoice"')
    made = rendered(source.replace("236.82", "1"))
    with pikepdf.open(io.BytesIO(made.pdf)) as pdf:
        assert list(pdf.attachments) == []
        assert "/OutputIntents" not in pdf.Root


def test_an_invoice_is_in_an_accessible_archive_file():
    made = rendered(document().replace("<document", '<document profile="pdf/a-3a"', 1))
    with pikepdf.open(io.BytesIO(made.pdf)) as pdf:
        assert list(pdf.attachments) == ["factur-x.xml"]
        assert pdf.open_metadata()["pdfaid:conformance"] == "A"


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        (document(head='<einvoice from="invoice"/>'), "einvoice-twice", "leave the others out"),
        (document(head="<security/>"), "einvoice-archive", "`security` would encrypt"),
        (
            document().replace("<document", '<document profile="pdf/a-2b"'),
            "einvoice-archive",
            'use profile="pdf/a-3b"',
        ),
        (
            document("<p>a</p>", data=[1]).replace(DATES, ""),
            "einvoice-data",
            "must be a record, not a list",
        ),
        (
            document("<p>a</p>", data={"totals": {"due": "x"}}),
            "einvoice-data",
            "/totals/due (BT-115)",
        ),
        (document('<p term="BT-1"><img src="a" alt=""/></p>'), "term-content", "set `img` outside"),
        (document('<p term="BT-4">a</p>'), "wrong-value", "BT-112"),
        (
            document(head='<attachment name="factur-x.xml"><![CDATA[<a/>]]></attachment>'),
            "duplicate-key",
            "factur-x.xml",
        ),
    ],
)
def test_a_document_that_cannot_be_an_invoice_is_reported(source, code, message):
    found = {one[0]: one[2] for one in reported(source)}
    assert message in found[code]


def test_an_attachment_written_by_hand_is_checked_and_compared():
    with pikepdf.open(io.BytesIO(rendered(document()).pdf)) as pdf:
        content = pdf.attachments["factur-x.xml"].get_file().read_bytes().decode()
    source = document().replace(
        '<einvoice profile="en16931" from="invoice"/>',
        '<attachment name="factur-x.xml" relationship="alternative">'
        f"<![CDATA[{content}]]></attachment>",
    )
    source = source.replace("<document", '<document profile="pdf/a-3b"')
    made = rendered(source)
    assert made.warnings == ()
    wrong = source.replace(">236.82</ram:Grand", ">236.92</ram:Grand")
    found = reported(wrong)
    assert {one[0] for one in found} == {"einvoice-rule"}
    assert "BR-CO-15" in found[0][2]
    entity = source.replace("<![CDATA[<?xml version", "<![CDATA[<!DOCTYPE a><?xml version")
    assert {one[0] for one in reported(entity)} == {"attachment-xml"}


def test_an_invoice_adds_little_to_a_warm_render():
    plain = prepare_template(
        document().replace('from="invoice"', 'if="false" from="invoice"').encode()
    )
    whole = prepare_template(document().encode())
    payload = Payload(PayloadKind.JSON, b"{}")

    def measure(template):
        began = process_time()
        render(template, payload, options=OPTIONS)
        return process_time() - began

    for template in (plain, whole):
        measure(template)
    added = [measure(whole) - measure(plain) for _ in range(9)]
    assert statistics.median(added) < 0.05  # 25 ms on a quiet machine


# --- official rules -----------------------------------------------------------------------------------


def french(**changes: object) -> samples.Record:
    """Return an invoice between French parties without the notes that their law asks for."""
    data = samples.full() | changes
    for party in ("seller", "buyer"):
        data[party]["address"]["country"] = "FR"
    return data


def test_rules_of_france_are_warnings_of_a_render_and_errors_if_asked_for():
    made = rendered(document(data=french()))
    assert {one.code for one in made.warnings} == {"einvoice-rule"}
    assert any("BR-FR-05_BT-22_PMT" in one.message for one in made.warnings)
    found = reported(document(data=french(), profile='profile="en16931" rules="official"'))
    assert any("BR-FR-05_BT-22_PMT" in message for _, _, message in found)
    assert rendered(document(data=samples.full())).warnings == ()


def test_official_rules_are_run_when_asked_for():
    official = 'profile="en16931" rules="official"'
    assert rendered(document(profile=official)).warnings == ()
    source = document(profile=official)
    plain = render(None, Payload(PayloadKind.XML, source.encode()), options=PLAIN_OPTIONS)
    assert [one.code for one in plain.warnings] == ["einvoice-rules"]  # there is no judge
    (warning,) = rendered(document(profile='profile="peppol" rules="official"')).warnings
    assert "no rule pack of this installation" in warning.message


def test_an_invoice_of_the_french_extension_keeps_its_rules():
    for syntax in ("cii", "ubl"):
        profile = f'profile="extended-ctc-fr" syntax="{syntax}" rules="official"'
        assert rendered(document(profile=profile)).warnings == ()


def test_rules_of_countries_are_warnings_in_peppol():
    class National(Judge):
        def judge(self, content, facts):
            return Verdict((RuleViolation("SE-R-005", "/seller", "For Swedish suppliers"),))

    payload = Payload(PayloadKind.XML, document(profile='profile="peppol"').encode())
    made = render(None, payload, options=replace(OPTIONS, judge=National()))
    assert [(one.code, "SE-R-005" in one.message) for one in made.warnings] == [("einvoice-rule", True)]  # fmt: skip


def test_a_rule_that_is_told_is_not_told_again_by_official_files():
    class Advising(Judge):
        def judge(self, content, facts):
            return Verdict((RuleViolation("BR-DE-27", "/seller", "Telefon", severity="warning"),))

    data = changed(samples.put("seller.contact.phone", "1 2"))
    source = document(data=data, profile='profile="xrechnung" rules="official"')
    payload = Payload(PayloadKind.XML, source.encode())
    made = render(None, payload, options=replace(OPTIONS, judge=Advising()))
    assert [one.code for one in made.warnings] == ["einvoice-rule"]


def test_rules_of_france_are_asked_once_for_invoices_of_one_form():
    asked = []

    class Counting(Judge):
        def judge(self, content, facts):
            asked.append(content)
            return super().judge(content, facts)

    def asked_for(*invoices, rules=""):
        template = prepare_template(
            document(data=invoices[0], profile=f'profile="en16931"{rules}').encode()
        )
        asked.clear()
        for data in invoices:
            payload = Payload(PayloadKind.JSON, json.dumps({"invoice": data}, default=str).encode())
            render(template, payload, options=replace(OPTIONS, judge=Counting()))
        return list(asked)

    notes = [{"subjectCode": code, "text": "None"} for code in ("PMT", "PMD", "AAB")]
    sound = french(processType="S1", notes=notes, documents=[])
    sound = json.loads(json.dumps(sound, default=float).replace('Rate": 19', 'Rate": 20'))
    for party, siren in (("seller", "732829320"), ("buyer", "552100554")):
        sound[party] |= {
            "registrationId": siren,
            "registrationScheme": "0002",
            "electronicAddress": siren,
        }
        sound[party] |= {"electronicAddressScheme": "0225", "vatId": f"FR44{siren}"}
    sound["vatBreakdown"][0] |= {"rate": 20, "vat": 34.76}
    sound["totals"] |= {"vat": 34.76, "withVat": 238.56, "due": 202.74}
    other = {**sound, "number": "2026-0043", "issueDate": "2026-03-03"}
    wrong = {**other, "notes": sound["notes"][:2]}
    assert len(asked_for(sound, other, sound)) == 1
    assert len(asked_for(sound, wrong, wrong)) == 3  # findings are asked for each time
    assert len(asked_for(sound, sound, rules=' rules="official"')) == 2
