"""Settings belong to a template: its attributes and expressions read them, and no payload sets them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from workers.engine.diagnostics import AuthoringError, Findings, Severity
from workers.engine.pipeline import build_document, prepare_template, validate
from workers.engine.ports import Payload, PayloadKind, RenderOptions
from workers.engine.tree.document import Document

OPTIONS = RenderOptions(now=datetime(2026, 3, 2, tzinfo=UTC))
SETTINGS = """<setting name="accent" type="color" value="#1f5fbf"/><setting name="paper" type="paper" values="A4 Letter" value="Letter"/>
  <setting name="tongue" type="language" value="de"/><setting name="sender" type="text" value="Quayside 4&#10;Newcastle"/>
  <setting name="logo" type="image"/><setting name="vat" type="boolean" value="false"/>"""
USES = """<color name="ink" value="{{ settings.accent }}"/><page size="{{ settings.paper }}" margin="20mm"/>
  <flow><img if="settings.logo" src="{{ settings.logo }}" alt=""/><p if="not settings.vat" color="ink">{{ settings.sender | lines | join(', ') }}</p></flow>"""
BASE = f'<document lang="{{{{ settings.tongue }}}}">{SETTINGS}{USES}</document>'.encode()


def build(
    source: bytes,
    payload: bytes | None = None,
    kind: PayloadKind = PayloadKind.JSON,
    **linked: bytes,
) -> Document:
    template = prepare_template(source, {f"{name}@1": text for name, text in linked.items()})
    sent = None if payload is None else Payload(kind, payload)
    return build_document(template, sent, options=OPTIONS, findings=Findings())[0]


def findings_of(source: bytes, payload: bytes | None = None) -> list[tuple[str, str]]:
    sent = None if payload is None else Payload(PayloadKind.XML, payload)
    found = validate(prepare_template(source), sent, options=OPTIONS)
    return [(one.code, one.message) for one in found if one.severity is Severity.ERROR]


def shown(document: Document) -> str:
    return repr(document.flows[0].blocks)


def test_attributes_and_expressions_read_settings():
    document = build(BASE)
    assert document.info.lang == "de"
    assert document.masters[0].width == 612
    assert "Quayside 4, Newcastle" in shown(document)
    assert "0.1215" in shown(document)  # the red of the accent


@pytest.mark.parametrize("head", ['extends="base@1"', ""])
def test_a_template_sets_the_values_of_another(head):
    below = "" if head else '<import template="base@1"/>'
    own = f'<document {head}>{below}<setting name="sender" value="Hafen 1"/>{"" if head else USES}</document>'
    document = build(own.encode(), base=BASE)
    assert "Hafen 1" in shown(document)
    assert document.masters[0].width == 612


def test_a_payload_sees_but_does_not_change_settings():
    data = b'{"settings": {"sender": "Elsewhere"}}'
    assert "Quayside" in shown(build(BASE, data))
    over = b'<document><setting name="sender" value="Elsewhere"/></document>'
    assert [code for code, _ in findings_of(BASE, over)] == ["final"]
    hidden = b'<document><data><let name="settings" value="1"/></data></document>'
    assert "duplicate-key" in [code for code, _ in findings_of(BASE, hidden)]
    with pytest.raises(AuthoringError):
        build(BASE, over, PayloadKind.XML)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ('type="color" value="#12"', 'The setting "a" is "#12", accepted is a colour name'),
        (
            'type="paper" values="A4 Letter" value="Leter"',
            'accepted is A4 or Letter; did you mean "Letter"?',
        ),
        ('type="boolean"', 'The setting "a" is "", accepted is true or false'),
        ('type="image" value="Logo.png"', "accepted is the name of a stored image"),
        ('type="language" value="german!"', "accepted is"),
        ('type="choice" values="top bottom" value="left"', "accepted is top or bottom"),
        (f'value="{"x" * 4001}"', "accepted is at most 4,000 characters"),
    ],
)
def test_a_wrong_value_is_one_finding_at_the_setting(wrong, message):
    source = f'<document><setting name="a" {wrong}/><flow/></document>'
    [(code, text)] = findings_of(source.encode())
    assert code == "wrong-value"
    assert message in text


def test_a_misspelled_setting_is_named():
    wrong = BASE.replace(b"settings.paper", b"settings.papr")
    assert ("unknown-setting", 'There is no setting "papr"; did you mean "paper"?') in findings_of(
        wrong
    )


def test_data_of_that_name_stay_where_no_setting_is_declared():
    source = b"<document><flow><p>{{ settings.x }}</p></flow></document>"
    assert "'from data'" in shown(build(source, b'{"settings": {"x": "from data"}}'))
