"""No error is ever lost among many findings: lists are bounded, verdicts are not."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime

import pytest

from workers.engine.diagnostics import (
    MAX_COUNTED,
    MAX_LISTED,
    AuthoringError,
    Diagnostic,
    Findings,
    Severity,
)
from workers.engine.pipeline import prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind, RenderOptions
from workers.engine.syntax.vocabulary import PROPERTIES

OPTIONS = RenderOptions(now=datetime(2026, 11, 21, tzinfo=UTC))
MANY = 210
ANY_FLOW = "<document><flow/></document>"


def xml(text: str) -> Payload:
    return Payload(PayloadKind.XML, text.encode())


def markdown(text: str) -> Payload:
    return Payload(PayloadKind.MARKDOWN, text.encode())


def refused(payload: Payload, template: str | None = None) -> AuthoringError:
    prepared = None if template is None else prepare_template(template.encode())
    with pytest.raises(AuthoringError) as caught:
        render(prepared, payload, options=OPTIONS)
    return caught.value


def validated(text: str) -> Findings:
    return validate(None, xml(text), options=OPTIONS)


# --- the errors that used to be lost --------------------------------------------------------------


def test_a_missing_image_is_an_error_after_many_warnings_of_markdown():
    text = "a <x1>b\n\n" * MANY + "![a](nosuch)\n"
    errors = refused(markdown(text), ANY_FLOW).diagnostics
    assert [error.code for error in errors] == ["image-missing"]


@pytest.mark.parametrize("call", ["render", "validate"])
def test_a_wrong_barcode_is_an_error_after_many_warnings(call):
    images = "<barcode type='qr' value='a'/>" * MANY  # each without `alt`
    text = f"<document><flow>{images}<barcode alt='' type='ean13' value='123'/></flow></document>"
    errors = refused(xml(text)).diagnostics if call == "render" else validated(text).errors
    assert len(errors) == 1
    assert "ean13" in errors[0].message


def test_a_missing_glyph_in_an_archive_is_an_error_after_many_warnings():
    images = "<barcode type='qr' value='a'/>" * MANY
    text = f"<document profile='pdf/a-3b'><flow>{images}<p>\U0001f701</p></flow></document>"
    (error,) = refused(xml(text)).diagnostics
    assert error.code == "missing-glyph"


def test_overflow_is_an_error_after_many_warnings():
    glyphs = "".join(f"<p>{chr(0x1F700 + i)}</p>" for i in range(100)) * 3
    text = (
        f"<document><flow>{glyphs}<box height='1mm' width='9mm'><p>too tall</p></box>"
        "</flow></document>"
    )
    assert [error.code for error in refused(xml(text)).diagnostics] == ["content-overflows"]


def test_an_assertion_fails_after_many_warnings():
    warned = "<assert test='false' severity='warning' message='{{ i }}' for='i in range(300)'/>"
    text = f"<document><flow>{warned}<assert test='1 > 2'/></flow></document>"
    assert [error.code for error in validated(text).errors] == ["assert"]
    assert len(refused(xml(text)).diagnostics) == 1


def test_checks_go_on_after_many_warnings():
    headings = "<h1>a</h1><h3>b</h3>" * MANY
    text = f"<document><flow>{headings}<p colour='red'>a</p></flow></document>"
    assert [error.code for error in validated(text).errors] == ["unknown-attribute"]


# --- what is reported for those left out ---------------------------------------------------------------


def test_warnings_left_out_are_counted_in_the_answer_of_a_validation():
    text = f"<document><flow>{'<h1>a</h1><h3>b</h3>' * MANY}</flow></document>"
    report = validated(text).to_report()
    assert (report["valid"], len(report["warnings"])) == (True, MAX_LISTED)
    assert report["leftOut"] == {"errors": 0, "warnings": MANY - MAX_LISTED}


def test_a_complete_report_has_nothing_left_out():
    assert validated(ANY_FLOW).to_report() == {"valid": True, "errors": [], "warnings": []}


def test_warnings_left_out_are_counted_in_a_render():
    text = f"<document><flow>{'<h1>a</h1><h3>b</h3>' * MANY}</flow></document>"
    rendered = render(None, xml(text), options=OPTIONS)
    assert len(rendered.warnings) == MAX_LISTED
    assert rendered.warnings_left_out == MANY - MAX_LISTED


def test_errors_beyond_the_list_are_counted():
    wrong = "".join(f"<p colour='red'>{i}</p>" for i in range(1_000))
    text = f"<document><flow>{wrong}</flow></document>"
    error = refused(xml(text))
    assert (len(error.diagnostics), error.left_out) == (MAX_LISTED, 1_000 - MAX_LISTED)


def test_members_of_a_payload_beyond_the_list_are_counted():
    template = prepare_template(
        b"<document><data><field name='a'/></data><flow><p>{{ a }}</p></flow></document>"
    )
    body = "{" + ",".join(f'"m{i}": 1' for i in range(50)) + "}"
    found = validate(template, Payload(PayloadKind.JSON, body.encode()), options=OPTIONS)
    assert [one.code for one in found.warnings] == ["unknown-member"] * 20 + ["more-findings"]
    assert "30 more members" in found.warnings[-1].message


# --- the list itself ------------------------------------------------------------------------------


def warning(number: int) -> Diagnostic:
    return Diagnostic(Severity.WARNING, "w", str(number))


def test_a_finding_left_out_is_counted_once():
    findings = Findings()
    for _ in range(3):
        for number in range(MAX_LISTED + 5):
            findings.add(warning(number))
    assert findings.left_out(Severity.WARNING) == 5


def test_findings_that_are_joined_keep_the_number_of_those_left_out():
    one, other = Findings(), Findings()
    for number in range(MAX_LISTED + 5):
        one.error("e", str(number))
    for number in range(MAX_LISTED + 10):
        other.error("e", str(number))
    one.extend(other)
    assert (len(one.errors), one.left_out(Severity.ERROR)) == (MAX_LISTED, 10)
    assert one.error_count == MAX_LISTED + 10


def test_findings_that_are_joined_are_still_errors_where_the_list_is_full_of_warnings():
    one, other = Findings(), Findings()
    for number in range(MAX_LISTED * 2):
        one.add(warning(number))
    other.error("e", "a")
    one.extend(other)
    with pytest.raises(AuthoringError, match="a"):
        one.raise_errors()


@pytest.mark.long
def test_a_million_findings_need_little_memory():
    findings = Findings()
    tracemalloc.start()
    for number in range(1_000_000):
        findings.add(warning(number))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000
    assert findings.left_out(Severity.WARNING) == MAX_COUNTED


# --- templates are used again ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("<grid grid-template-columns='1fr' grid-auto-flow='column'><p>a</p></grid>", "grid-rows"),
        ("<p color=\"{{ 'k' }}\">a</p>", "unknown-color"),
        ("<p class=\"{{ 'k' }}\">a</p>", "unknown-style"),
        ("<p page=\"{{ 'k' }}\">a</p>", "unknown-page"),
        ("<table><col width=\"{{ 'k' }}\"/><tr><td>a</td></tr></table>", "wrong-value"),
        ("<img src='{{ none }}' alt=''/>", "missing-image"),
    ],
)
def test_each_document_of_a_template_gets_the_findings(content, code):
    template = prepare_template(f"<document><flow>{content}</flow></document>".encode())
    reported = []
    for _ in range(3):
        with pytest.raises(AuthoringError) as caught:
            render(template, None, options=OPTIONS)
        reported.append([error.code for error in caught.value.diagnostics])
    assert reported[0] == reported[1] == reported[2]
    assert code in reported[0]


@pytest.mark.parametrize("value", ["none", "transparent", "auto", "9999fr", "#12", "@@", ""])
def test_a_property_of_a_style_with_any_value_fails_no_request(value):
    given = " ".join(f'{name}="{value}"' for name in PROPERTIES)
    styles = "".join(f'<style element="{element}" {given}/>' for element in ("document", "p"))
    found = validated(f"<document>{styles}<flow><p>a</p></flow></document>")
    assert {error.code for error in found.errors} <= {
        "wrong-value", "unknown-color", "unknown-font", "unknown-page", "missing-value",
    }  # fmt: skip
