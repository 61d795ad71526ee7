"""Findings that no golden document can show: of payloads, of validation, of the finished file."""

from __future__ import annotations

import json

import pytest

from tests.golden.case import OPTIONS
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind

TYPED = '<data><json>{ "rows": [] }</json><dataset name="rows"><field name="n" type="decimal"/></dataset></data>'


def told(inside: str, payload: Payload | None = None) -> list[str]:
    template = prepare_template(f"<document>{inside}<flow/></document>".encode())
    return [finding.code for finding in validate(template, payload, options=OPTIONS)]


def test_a_flow_that_is_printed_nowhere_is_told_by_validation():
    assert told('<flow name="notes"/>') == ["unused-flow"]


def test_a_member_that_the_template_does_not_know_is_told():
    assert told(TYPED, Payload(PayloadKind.JSON, b'{ "row": [] }')) == ["unknown-member"]


def test_twenty_findings_of_the_data_are_listed_and_the_rest_counted():
    rows = json.dumps({"rows": [{"n": "x"}] * 25}).encode()
    codes = told(TYPED, Payload(PayloadKind.JSON, rows))
    assert codes == ["wrong-data"] * 20 + ["more-findings"]


@pytest.mark.parametrize(
    ("password", "encryption"), [("é" * 70, "aes-256"), ("漢", "aes-128"), ("a" * 33, "aes-128")]
)
def test_a_password_that_readers_could_not_use_is_refused(password: str, encryption: str):
    source = f'<document><security user-password="{password}" encryption="{encryption}"/><flow/></document>'
    with pytest.raises(AuthoringError) as refused:
        render(prepare_template(source.encode()), None, options=OPTIONS)
    assert [finding.code for finding in refused.value.diagnostics] == ["security-password"]
