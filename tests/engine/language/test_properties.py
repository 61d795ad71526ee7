"""Properties of every document and payload: pages are stable, bad bytes are reported, not raised."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.golden.case import OPTIONS, Case, FolderImages, find_cases
from tests.golden.dump import dump_pages
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.pipeline import (
    build_document,
    lay_out_document,
    prepare_template,
    render,
    validate,
)
from workers.engine.ports import Payload, PayloadKind

CASES = [case for case in find_cases() if case.payload is None and case.reference.exists()]
EMPTY = Payload(PayloadKind.JSON, b"{}")
TEMPLATE = prepare_template(b"""
<document lang="en-GB">
  <data><json>{ "name": "Ada", "rows": [] }</json><field name="name" maxlength="50"/>
    <dataset name="rows"><field name="n" type="decimal"/><field name="day" type="date"/></dataset></data>
  <page size="A6"/>
  <flow><p>{{ name | upper }}</p><p for="r in rows">{{ r.n | number }} {{ r.day | date }}</p></flow>
</document>""")

# Pieces that bring arbitrary bytes past the first checks of each format.
_PIECES = st.sampled_from(
    [
        *(b"<document><flow>", b"<p>", b"</p>", b"{{ ", b" }}", b"</flow></document>", b"<table><tr><td>"),
        *(b'{"rows":[', b'{"n":', b"1e999999999", b"]}", b"null", b'"\\ud800"', b"n,day\n", b'"', b";"),
        *(b"# ", b"| a | b |\n|---|---|\n", b"[^1]", b"![](", b"<img src='", b"\x00", b"\xff\xfe", b"&#1;"),
    ]
)  # fmt: skip
BODIES = st.lists(_PIECES | st.binary(max_size=20), max_size=12).map(b"".join)


def pages_of(case: Case, payload: Payload | None) -> str:
    findings = Findings()
    document, _ = build_document(
        prepare_template(case.source), payload, options=OPTIONS, findings=findings
    )
    return dump_pages(lay_out_document(document, resources=FolderImages(), findings=findings))


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_an_empty_payload_changes_no_page_of_any_golden_document(case: Case):
    assert pages_of(case, None) == pages_of(case, EMPTY)


@pytest.mark.parametrize("kind", PayloadKind)
@settings(max_examples=60, derandomize=True)
@given(body=BODIES)
def test_any_bytes_as_a_payload_are_rendered_or_reported(kind: PayloadKind, body: bytes):
    payload = Payload(kind, body)
    for template in (TEMPLATE, None) if kind is PayloadKind.XML else (TEMPLATE,):
        validate(template, payload, options=OPTIONS)
        with suppress(AuthoringError):
            render(template, payload, options=OPTIONS)


@settings(max_examples=60, derandomize=True)
@given(source=BODIES)
def test_any_bytes_as_a_template_are_rendered_or_reported(source: bytes):
    template = prepare_template(source)
    validate(template, None, options=OPTIONS)
    with suppress(AuthoringError):
        render(template, None, options=OPTIONS)
