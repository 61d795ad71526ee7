"""Findings that no golden document can show: of payloads, of validation, of the finished file."""

from __future__ import annotations

import json

import pytest

from tests.golden.case import OPTIONS
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind

TYPED = '<data><json>{ "rows": [] }</json><dataset name="rows"><field name="n" type="decimal"/></dataset></data>'


def reported(inside: str, payload: Payload | None = None) -> list[str]:
    template = prepare_template(f"<document>{inside}<flow/></document>".encode())
    return [finding.code for finding in validate(template, payload, options=OPTIONS)]


def test_an_unprinted_flow_is_reported_by_validation():
    assert reported('<flow name="notes"/>') == ["unused-flow"]


def test_a_member_unknown_to_the_template_is_reported():
    assert reported(TYPED, Payload(PayloadKind.JSON, b'{ "row": [] }')) == ["unknown-member"]


def test_twenty_findings_of_the_data_are_listed_and_the_rest_counted():
    rows = json.dumps({"rows": [{"n": "x"}] * 25}).encode()
    codes = reported(TYPED, Payload(PayloadKind.JSON, rows))
    assert codes == ["wrong-data"] * 20 + ["more-findings"]


@pytest.mark.parametrize(
    ("password", "encryption"), [("é" * 70, "aes-256"), ("漢", "aes-128"), ("a" * 33, "aes-128")]
)
def test_a_password_that_readers_could_not_use_is_refused(password: str, encryption: str):
    source = f'<document><security user-password="{password}" encryption="{encryption}"/><flow/></document>'
    with pytest.raises(AuthoringError) as refused:
        render(prepare_template(source.encode()), None, options=OPTIONS)
    assert [finding.code for finding in refused.value.diagnostics] == ["security-password"]


@pytest.mark.parametrize("tag", ["document", "p"])
@pytest.mark.parametrize(
    ("style", "code"), [('color="k"', "unknown-color"), ('page="k"', "unknown-page")]
)
def test_validation_reports_an_undeclared_name_in_a_style_once(tag, style, code):
    source = f'<document><style element="{tag}" {style}/><flow><p>a</p></flow></document>'
    found = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert [finding.code for finding in found] == [code]


def test_validation_encodes_the_bar_codes_of_the_data():
    source = (
        '<document><data><json>{"codes": ["4006381333931", "123", ""]}</json></data>'
        '<page><header><barcode for="c in codes" type="ean13" alt="" value="{{ c }}"/>'
        '<barcode type="ean13" alt="" value="{{ page.number }}"/></header></page>'
        '<flow><barcode for="c in codes" type="ean13" alt="" value="{{ c }}"/></flow></document>'
    )
    found = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert [error.code for error in found.errors] == ["barcode-value"] * 4
    assert "(codes row 2)" in found.errors[0].message


def test_validation_refuses_a_password_that_readers_could_not_use():
    source = f'<document><security user-password="{"é" * 70}"/><flow/></document>'
    found = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    assert [error.code for error in found.errors] == ["security-password"]
