"""The one entry to merging, with the newcomer's invoice in its three ways."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.merge.documents import merge, template
from workers.engine.diagnostics import Severity
from workers.engine.ports import PayloadKind

INVOICE = """<document version="1" title="Invoice {{ number }}" lang="en-GB" currency="EUR">
  <data>
    <json>{ "number": "2026-0042", "date": "2026-03-02", "vat_rate": 0.19,
      "seller": { "name": "Northwind Tools Ltd", "iban": "GB33BUKB20201555555555" },
      "lines": [ { "text": "Cordless drill", "qty": 2, "price": 89.90 } ] }</json>
    <field name="date" type="date" required="true"/>
    <let name="net" value="lines | sum('qty * price')"/>
  </data>
  <flow><table><col width="1fr"/><col/>
    <tbody><tr for="l in lines"><td>{{ l.text }}</td><td>{{ l.price | currency }}</td></tr></tbody>
  </table><insert flow="notes"/></flow>
  <flow name="notes"><p margin-top="8mm">Thank you.</p></flow>
</document>"""

PAYMENT = """<document filename="invoice-{{ number }}.pdf">
  <data><json>{ "number": "2026-0044", "bic": "BUKBGB22XXX" }</json>
    <field name="bic" pattern="[A-Z0-9]{8,11}"/></data>
  <flow name="notes"><row margin-top="auto" break-inside="avoid" align-items="center">
    <barcode width="32mm" type="epc-qr" alt="Payment code" value="{{ { 'bic': bic } }}"/></row></flow>
  <security copy="true" modify="false" annotate="false" print="high"/>
</document>"""


def test_json_changes_the_fields_it_names():
    outcome = merge(template(INVOICE), '{"number": "2026-0043", "date": "2026-03-09", "lines": []}')
    assert outcome.findings == ()
    assert outcome.data["number"] == "2026-0043"
    assert outcome.data["date"] == date(2026, 3, 9)
    assert outcome.data["lines"] == []
    assert outcome.data["vat_rate"] == Decimal("0.19")


NULLS = (
    '<document><data><json>{"a": null, "b": {"c": null, "d": 1}}</json></data><flow/></document>'
)


@pytest.mark.parametrize(
    ("payload", "data"),
    [
        (None, {"a": None, "b": {"c": None, "d": 1}}),
        ("{}", {"a": None, "b": {"c": None, "d": 1}}),
        ('{"b": {"d": 2}}', {"a": None, "b": {"c": None, "d": 2}}),
        ('{"a": null, "b": {"c": null}}', {"b": {"d": 1}}),
    ],
)
def test_a_null_of_the_defaults_stays_until_a_payload_removes_it(payload: str | None, data: object):
    assert merge(template(NULLS), payload).data == data
    xml = f"<document><data><json>{payload or '{}'}</json></data></document>"
    assert merge(template(NULLS), xml, PayloadKind.XML).data == data


def test_a_null_of_a_payload_adds_no_member_to_a_template_without_defaults():
    xml = '<document><data><json>{"a": null}</json></data></document>'
    bare = template("<document><flow/></document>")
    assert merge(bare, xml, PayloadKind.XML).data == merge(bare, '{"a": null}').data == {}


def test_markdown_fills_a_flow():
    outcome = merge(template(INVOICE), "Delivered **free**.", PayloadKind.MARKDOWN, flow="notes")
    assert outcome.findings == ()
    assert outcome.data["date"] == date(2026, 3, 2)


def test_xml_adds_and_replaces():
    outcome = merge(template(INVOICE), PAYMENT, PayloadKind.XML)
    assert outcome.findings == ()
    assert (outcome.data["number"], outcome.data["bic"]) == ("2026-0044", "BUKBGB22XXX")


def test_a_complete_document_needs_no_template_and_has_no_origin():
    outcome = merge(None, INVOICE.replace("</document>", "<nope/></document>"), PayloadKind.XML)
    assert outcome.only.location is not None
    assert outcome.only.location.origin is None
    assert outcome.merged is not None


def test_data_reuse_the_template_as_it_was_prepared():
    source = template(INVOICE)
    for body in (None, "{}"):
        merged = merge(source, body).merged
        assert merged is not None
        assert merged.source is source


def test_the_payload_is_known_by_its_digest():
    merged = merge(template(INVOICE), "{}").merged
    assert merged is not None
    assert merged.payload_sha256 == (
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    )


@pytest.mark.parametrize("kind", [PayloadKind.JSON, PayloadKind.CSV, PayloadKind.MARKDOWN])
def test_data_without_a_template_are_refused(kind: PayloadKind):
    outcome = merge(None, "x", kind)
    assert outcome.merged is None
    assert outcome.only.code == "no-template"


def test_an_invalid_template_is_reported_on_every_merge():
    source = template("<document>")
    for kind in PayloadKind:
        outcome = merge(source, "<document/>", kind)
        assert outcome.merged is None
        assert "not-well-formed" in outcome.codes


_BODIES = st.binary(max_size=60) | st.text(max_size=60).map(str.encode)


@given(st.sampled_from(PayloadKind), _BODIES, st.sampled_from([None, "utf-16", "x"]))
def test_no_payload_makes_merging_raise(kind: PayloadKind, body: bytes, charset: str | None):
    outcome = merge(_CSV_TEMPLATE, body, kind, charset=charset)
    assert outcome.merged is not None or outcome.codes


_CSV_TEMPLATE = template(
    '<document><data><dataset name="r" csv="true"><field name="a" type="decimal"/></dataset></data>'
    "<flow/></document>"
)


ONE_TEXT = """<document><data><json>{"t": ""}</json><dataset name="r" csv="true"><field name="t"/></dataset></data>
<flow/></document>"""


@pytest.mark.parametrize(
    ("kind", "body", "where"),
    [
        (PayloadKind.JSON, '{"t": "a\\u000bb"}', "/t contains"),
        (PayloadKind.CSV, "t\na\x0bb\n", "CSV line 2, column 2 contains"),
        (PayloadKind.MARKDOWN, "x\n\na\x0bb", "Markdown line 3, column 2 contains"),
        (PayloadKind.XML, "<document>\n<flow><p>a\x0bb</p></flow></document>", "Line 2, column 11 contains"),
        (PayloadKind.XML, "<document>\n<flow><p>a&#xB;b</p></flow></document>", "Line 2, column 11 contains"),
        (PayloadKind.XML, '<document><data><json>{"t": "a\\u000bb"}</json></data></document>', "/t contains"),
    ],
)  # fmt: skip
def test_a_control_character_is_left_out_with_a_warning(kind: PayloadKind, body: str, where: str):
    outcome = merge(template(ONE_TEXT), body, kind)
    assert outcome.only.severity is Severity.WARNING
    assert outcome.only.code == "control-character"
    assert outcome.only.message == f"{where} the character U+000B, which is left out"
    assert outcome.merged is not None
    shown = outcome.data["t"], *outcome.data["r"], outcome.merged.root.find("flow")
    assert "ab" in str(shown)


def test_a_reference_in_a_cdata_section_or_comment_is_text():
    body = "<document><!--&#1;--><flow><p><![CDATA[&#1;]]></p></flow></document>"
    assert merge(None, body, PayloadKind.XML).findings == ()


@pytest.mark.parametrize("declared", ["", '<?xml version="1.0" encoding="UTF-8"?>'])
@pytest.mark.parametrize("source", [None, template("<document><flow/></document>")])
def test_the_charset_of_the_content_type_overrides_the_xml_declaration(source, declared: str):
    body = f"{declared}<document><flow><p>Größe</p></flow></document>"
    outcome = merge(source, body.encode("latin-1"), PayloadKind.XML, charset="iso8859-1")
    assert outcome.findings == ()
    assert outcome.merged is not None
    assert "Größe" in str(outcome.merged.root)
    marked = body.encode("utf-8-sig")  # a byte order mark overrides both
    assert merge(source, marked, PayloadKind.XML, charset="iso8859-1").findings == ()
