"""The whole engine: a newcomer's invoice in all its ways, from bytes to PDF."""

from __future__ import annotations

import gc
import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pikepdf
import pypdfium2
import pytest
from PIL import Image

from workers.engine.diagnostics import AuthoringError, Origin
from workers.engine.pipeline import PreparedTemplate, prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind, Rendered, RenderOptions, Resources, Stage

OPTIONS = RenderOptions(now=datetime(2026, 11, 21, tzinfo=UTC))

INVOICE = """<document version="1" title="Invoice {{ number }}" lang="en-GB" currency="EUR">
  <data>
    <json>{ "number": "2026-0042", "date": "2026-03-02", "vat_rate": 0.19,
      "seller": { "name": "Northwind Tools Ltd", "iban": "GB33BUKB20201555555555" },
      "buyer": { "name": "Example GmbH", "street": "Musterweg 5", "town": "10115 Berlin" },
      "lines": [ { "text": "Cordless drill", "qty": 2, "price": 89.90 },
                 { "text": "Drill bits, set of 10", "qty": 1, "price": 19.50 } ] }</json>
    <field name="date" type="date" required="true"/>
    <let name="net" value="lines | sum('qty * price')"/>
    <let name="vat" value="(net * vat_rate) | round(2)"/>
  </data>
  <page margin="20mm 20mm 15mm 25mm">
    <header margin-bottom="15mm"><img src="logo" height="14mm" alt="{{ seller.name }}"/></header>
    <footer font-size="8pt" color="#666666">
      <row><p>{{ seller.name }}, IBAN {{ seller.iban | iban }}</p>
        <p text-align="end">Page {{ page.number }} of {{ page.count }}</p></row>
    </footer>
  </page>
  <flow>
    <p height="35mm">{{ buyer.name }}<br/>{{ buyer.street }}<br/>{{ buyer.town }}</p>
    <h1>Invoice {{ number }}</h1>
    <p>Date {{ date | date('long') }}, due {{ date | add(days=14) | date('long') }}</p>
    <table margin-top="6mm">
      <col width="1fr"/><col text-align="end"/><col text-align="end"/><col text-align="end"/>
      <thead><tr><th>Item</th><th>Quantity</th><th>Price</th><th>Amount</th></tr></thead>
      <tbody>
        <tr for="l in lines"><td>{{ l.text }}</td><td>{{ l.qty | number }}</td>
          <td>{{ l.price | currency }}</td><td>{{ (l.qty * l.price) | currency }}</td></tr>
      </tbody>
      <tfoot font-weight="bold">
        <tr><td colspan="3">Net</td><td>{{ net | currency }}</td></tr>
        <tr><td colspan="3">VAT {{ vat_rate | percent }}</td><td>{{ vat | currency }}</td></tr>
        <tr><td colspan="3">Total</td><td>{{ (net + vat) | currency }}</td></tr>
      </tfoot>
    </table>
    <insert flow="notes"/>
  </flow>
  <flow name="notes"><p margin-top="8mm">Please pay within 14 days. Thank you.</p></flow>
</document>"""

OVERLAY = """<document filename="invoice-{{ number }}.pdf">
  <data>
    <json>{ "number": "2026-0044", "bic": "BUKBGB22XXX" }</json>
    <field name="bic" pattern="[A-Z0-9]{8,11}"/>
  </data>
  <flow name="notes">
    <row margin-top="auto" break-inside="avoid" align-items="center">
      <barcode width="32mm" type="epc-qr" alt="Payment code"
        value="{{ { 'name': seller.name, 'iban': seller.iban, 'bic': bic, 'amount': net + vat, 'text': number } }}"/>
      <p>Scan to pay {{ (net + vat) | currency }} by {{ date | add(days=14) | date('long') }}.</p>
    </row>
  </flow>
  <security copy="true" modify="false" annotate="false" print="high"/>
</document>"""


class OneLogo(Resources):
    """A workspace with one image."""

    def find_image(self, name: str) -> bytes | None:
        if name != "logo":
            return None
        written = io.BytesIO()
        Image.new("RGB", (60, 20), (0, 83, 156)).save(written, "PNG")
        return written.getvalue()


@pytest.fixture(scope="module")
def invoice() -> PreparedTemplate:
    return prepare_template(INVOICE.encode())


def make(template: PreparedTemplate | None, payload: Payload | None, **changes: object) -> Rendered:
    return render(template, payload, options=replace(OPTIONS, **changes), resources=OneLogo())


def text_of(pdf: bytes) -> str:
    opened = pypdfium2.PdfDocument(pdf)
    try:
        return "\n".join(
            opened[index].get_textpage().get_text_bounded() for index in range(len(opened))
        )
    finally:
        opened.close()


def test_invoice_renders_with_its_defaults(invoice: PreparedTemplate) -> None:
    rendered = make(invoice, None)
    text = text_of(rendered.pdf)
    assert rendered.pages == 1
    assert rendered.warnings == ()
    for said in ("Invoice 2026-0042", "Date 2 March 2026, due 16 March 2026", "€179.80", "VAT 19%", "€37.87",
                 "€237.17", "IBAN GB33 BUKB 2020 1555 5555 55", "Page 1 of 1", "Please pay within 14 days"):  # fmt: skip
        assert said in text


def test_json_changes_only_the_fields_it_names(invoice: PreparedTemplate) -> None:
    body = b'{"number": "2026-0043", "date": "2026-03-09", "lines": [{"text": "Saw", "qty": 3, "price": 10}]}'
    text = text_of(make(invoice, Payload(PayloadKind.JSON, body)).pdf)
    assert "Invoice 2026-0043" in text
    assert "due 23 March 2026" in text
    assert "€35.70" in text
    assert "Cordless drill" not in text


def test_markdown_fills_the_flow_it_names(invoice: PreparedTemplate) -> None:
    body = b"Delivered **free of charge**. See you soon, {{ buyer.name }}."
    text = text_of(make(invoice, Payload(PayloadKind.MARKDOWN, body, flow="notes")).pdf)
    assert "Delivered free of charge. See you soon, {{ buyer.name }}." in text
    assert "Thank you" not in text


@pytest.mark.parametrize(
    ("payload", "codes"),
    [
        (Payload(PayloadKind.MARKDOWN, b"Hello."), []),
        (Payload(PayloadKind.XML, b"<document><flow><p>Hello.</p></flow></document>"), []),
        (Payload(PayloadKind.JSON, b"{}"), ["unused-message"]),
        (None, ["unused-message"]),
    ],
)
def test_messages_of_a_template_may_be_those_of_what_is_replaced(
    payload: Payload | None, codes: list[str]
) -> None:
    messages = '<messages lang="en"><message key="unused">x</message></messages>'
    template = prepare_template(f"<document>{messages}<flow><p>Hi.</p></flow></document>".encode())
    assert [each.code for each in validate(template, payload, options=OPTIONS)] == codes


def test_xml_over_the_template_adds_code_and_protection(invoice: PreparedTemplate) -> None:
    rendered = make(invoice, Payload(PayloadKind.XML, OVERLAY.encode()))
    assert rendered.filename == "invoice-2026-0044.pdf"
    assert "Scan to pay €237.17 by 16 March 2026." in text_of(rendered.pdf)
    with pikepdf.open(io.BytesIO(rendered.pdf)) as opened:
        assert opened.is_encrypted
        assert not opened.allow.modify_other
        assert opened.allow.extract


def test_draft_is_marked_and_never_encrypted(invoice: PreparedTemplate) -> None:
    rendered = make(invoice, Payload(PayloadKind.XML, OVERLAY.encode()), is_draft=True)
    with pikepdf.open(io.BytesIO(rendered.pdf)) as opened:
        assert not opened.is_encrypted


def test_same_input_gives_the_same_bytes_whenever_it_is_rendered() -> None:
    first = make(prepare_template(INVOICE.encode()), None)
    later = make(prepare_template(INVOICE.encode()), None, now=datetime(2031, 1, 1, tzinfo=UTC))
    assert first.pdf == later.pdf


def test_template_is_not_changed_by_rendering(invoice: PreparedTemplate) -> None:
    before = make(invoice, None).pdf
    make(invoice, Payload(PayloadKind.XML, OVERLAY.encode()))
    make(invoice, Payload(PayloadKind.JSON, b'{"lines": []}'))
    assert make(invoice, None).pdf == before


def test_stages_are_reported_in_order(invoice: PreparedTemplate) -> None:
    entered: list[Stage] = []
    render(invoice, None, options=OPTIONS, resources=OneLogo(), observer=entered.append)
    assert entered == [Stage.MERGE, Stage.LAYOUT, Stage.FINISH]


def test_bar_codes_of_one_text_are_validated_with_their_own_options() -> None:
    sound = '<barcode type="ean13" value="4006381333931" alt=""/>'
    wrong = sound.replace("alt", 'add-on="9" alt')
    for inside in (sound + wrong, wrong + sound):
        template = prepare_template(f"<document><flow>{inside}</flow></document>".encode())
        found = validate(template, None, options=OPTIONS).errors
        assert [finding.code for finding in found] == ["barcode-value"]


def test_validation_finds_all_kinds_of_mistakes_in_one_go() -> None:
    source = (
        '<document><data><json>{"n": "x"}</json></data><flow><paragraph/><p colour="red">{{ n | rund }}</p>'
        "<p>{{ m }}</p><p>{{ n + 1 }}</p></flow></document>"
    )
    findings = validate(None, Payload(PayloadKind.XML, source.encode()), options=OPTIONS)
    codes = {finding.code for finding in findings}
    assert codes >= {
        "unknown-element",
        "unknown-attribute",
        "expression-syntax",
        "unknown-name",
        "expression",
    }


def test_findings_tell_whether_template_or_payload_is_at_fault() -> None:
    template = prepare_template(
        b'<document><flow><p>{{ a }}</p><insert flow="n"/></flow><flow name="n"/></document>'
    )
    payload = Payload(PayloadKind.XML, b'<document><flow name="n"><p>{{ b }}</p></flow></document>')
    found = validate(template, payload, options=OPTIONS)
    assert [f.location.origin for f in found.errors if f.location] == [
        Origin.TEMPLATE,
        Origin.PAYLOAD,
    ]


def test_validation_finds_the_data_at_fault_and_stops_there(invoice: PreparedTemplate) -> None:
    found = validate(invoice, Payload(PayloadKind.JSON, b'{"date": "soon"}'), options=OPTIONS)
    assert len(found.errors) == 1
    with pytest.raises(AuthoringError):
        make(invoice, Payload(PayloadKind.JSON, b'{"date": "soon"}'))


def test_valid_document_has_no_findings(invoice: PreparedTemplate) -> None:
    assert list(validate(invoice, None, options=OPTIONS)) == []


@pytest.mark.parametrize("source", [b"", b"<", b"\xff\xfe", b"<html/>", b"<document/>", b"plain"])
def test_text_that_is_no_document_is_an_authoring_error_or_an_empty_page(source: bytes) -> None:
    template = prepare_template(source)
    assert validate(template, None, options=OPTIONS).errors or make(template, None).pages == 1


def test_cycle_collector_works_on_after_a_render_whatever_came_of_it() -> None:
    make(None, Payload(PayloadKind.XML, b"<document><flow><p>fine</p></flow></document>"))
    assert gc.isenabled()
    full = b'<document><flow><box height="1mm"><p>too high</p></box></flow></document>'
    with pytest.raises(AuthoringError, match="Text does not fit"):
        make(None, Payload(PayloadKind.XML, full))
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("start", "end", "depth"),
    [
        ("<div padding='0.05mm'>", "</div>", 196),
        ("<table><tr><td padding='0'>", "</td></tr></table>", 65),
        ("<row><box overflow='shrink' height='200mm'>", "</box></row>", 98),
        ("<ul padding-left='0'><li>", "</li></ul>", 98),
        ("<b>", "</b>", 196),
    ],
)
def test_elements_as_deep_as_they_may_be_are_rendered(start, end, depth):
    flow = start * depth + "deep" + end * depth
    payload = Payload(PayloadKind.XML, f"<document><flow>{flow}</flow></document>".encode())
    assert render(None, payload, options=OPTIONS).pages == 1


def test_flows_in_flows_that_are_too_deep_together_are_an_error():
    flows = "".join(
        f'<flow name="f{n}">{"<div>" * 190}<insert flow="f{n + 1}"/>{"</div>" * 190}</flow>'
        for n in range(20)
    )
    text = f'<document>{flows}<flow name="f20"><p>x</p></flow><flow><insert flow="f0"/></flow></document>'
    with pytest.raises(AuthoringError, match="nested too deeply"):
        render(None, Payload(PayloadKind.XML, text.encode()), options=OPTIONS)
    with pytest.raises(AuthoringError, match="nested too deeply"):
        render(prepare_template(text.encode()), None, options=OPTIONS)
    for template, payload in (
        (None, Payload(PayloadKind.XML, text.encode())),
        (prepare_template(text.encode()), None),
    ):
        found = validate(template, payload, options=OPTIONS)
        assert [one.code for one in found.errors] == ["too-deep"]


def test_a_style_without_effect_is_reported_by_render_too():
    text = '<document><style name="s" margin-top="5mm"/><flow><p><span class="s">a</span></p></flow></document>'
    (warning,) = render(None, Payload(PayloadKind.XML, text.encode()), options=OPTIONS).warnings
    assert warning.code == "no-effect"


def test_a_readme_renders_with_its_links_and_long_code_lines() -> None:
    template = prepare_template(b'<document><page size="A6"/><flow/></document>')
    body = b"# Install\n\n[go](#install) [no](#nowhere)\n\n```\n" + b"code " * 60 + b"\n```\n"
    rendered = render(template, Payload(PayloadKind.MARKDOWN, body), options=OPTIONS)
    (warning,) = rendered.warnings
    assert (warning.code, warning.location.origin) == ("markdown-link", Origin.PAYLOAD)
    assert warning.location.span.line_start == 3
    with pikepdf.open(io.BytesIO(rendered.pdf)) as pdf:
        (link,) = pdf.pages[0].Annots
        (name, place) = pdf.Root.Names.Dests.Names
        assert str(name) == "install"
        assert [*link.Dest] == [*place]


def test_the_error_of_an_image_in_markdown_is_at_its_line() -> None:
    template = prepare_template(b"<document><flow/></document>")
    body = b"a\n\n- b\n- ![c](nosuch)\n"
    with pytest.raises(AuthoringError) as caught:
        render(template, Payload(PayloadKind.MARKDOWN, body), options=OPTIONS)
    place = caught.value.diagnostics[0].location
    assert (place.tag_name, place.origin, place.span.line_start) == ("img", Origin.PAYLOAD, 4)


@pytest.mark.parametrize("selector", ["1", "latest", "live", "approved"])
def test_links_that_move_are_warned_of_until_a_version_is_published(selector):
    source = f'<document extends="base@{selector}"/>'.encode()
    linked = {f"base@{selector}": b"<document><flow><p>Base</p></flow></document>"}
    template = prepare_template(source, linked)
    found = validate(template, None, options=OPTIONS)
    moving = [] if selector == "1" else ["moving-link"]
    assert [each.code for each in found] == moving
    assert list(validate(template, None, options=replace(OPTIONS, template_version=3))) == []


@pytest.mark.parametrize(
    "template",
    [
        '<document><flow optional-images="true"/></document>',
        '<document><style element="flow" optional-images="true"/><flow/></document>',
        '<document><flow><markdown value="data.m" optional-images="true"/></flow></document>',
    ],
)
def test_a_dead_image_in_markdown_may_be_its_alternative_text(template: str) -> None:
    text = (
        "Build [![passing](https://dead.example/b.svg)](https://ci.example) today.\n\n"
        "![](https://dead.example/x.png)![damaged](data:image/png;base64,aGk=)\n"
    )
    payload = Payload(PayloadKind.MARKDOWN, text.encode())
    if "data.m" in template:
        payload = Payload(PayloadKind.JSON, json.dumps({"m": text}).encode())
    rendered = make(prepare_template(template.encode()), payload)
    assert text_of(rendered.pdf).split() == ["Build", "passing", "today.", "damaged"]
    told = {(warning.code, warning.message.split("; ")[-1]) for warning in rendered.warnings}
    assert told == {
        ("image-missing", "its alternative text is drawn"),
        ("image-missing", "it is left out"),
        ("image-data", "its alternative text is drawn"),
    }


def test_the_alternative_text_of_a_dead_image_breaks_over_pages_with_its_tags() -> None:
    words = " ".join(["word"] * 400)
    source = (
        f'<document lang="en" title="T" profile="pdf/ua-1"><page size="100mm 60mm"/>'
        f'<flow optional-images="true"><img src="gone" alt="{words}"/></flow></document>'
    )
    rendered = make(None, Payload(PayloadKind.XML, source.encode()))
    assert text_of(rendered.pdf).split() == words.split()
    assert rendered.pages > 1
    with pikepdf.open(io.BytesIO(rendered.pdf)) as pdf:
        part = pdf.Root.StructTreeRoot.K.K
        assert part.K.S == "/P"


@pytest.mark.parametrize(
    ("lang", "word"), [("en", "Warning"), ("de-AT", "Warnung"), ("eu", "Warning")]
)
def test_an_alert_of_markdown_is_a_box_with_a_translated_title(lang: str, word: str) -> None:
    template = prepare_template(
        f'<document lang="{lang}"><style name="alert" border="1pt solid red"/>'
        '<style name="alert-warning" background="#123456"/><flow/></document>'.encode()
    )
    body = b"plain\n\n> [!WARNING]\n> Careful *here*.\n\n> [!TIP]\n> More.\n"
    rendered = make(template, Payload(PayloadKind.MARKDOWN, body))
    assert rendered.warnings == ()
    assert word in text_of(rendered.pdf)
    with pikepdf.open(io.BytesIO(rendered.pdf)) as pdf:
        content = pdf.pages[0].Contents.read_bytes()
    assert content.count(b"0.071 0.204 0.337 rg") == 1
