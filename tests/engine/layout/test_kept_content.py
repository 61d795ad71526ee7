"""Headers and footers that a template keeps for its next documents."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pytest
from PIL import Image

from tests.engine.test_pipeline import text_of
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.layout.pages.kept_content import MAX_KEPT
from workers.engine.layout.passes import lay_out
from workers.engine.pipeline import PreparedTemplate, build_document, prepare_template, render
from workers.engine.ports import NoResources, Payload, PayloadKind, Rendered, RenderOptions

OPTIONS = RenderOptions(now=datetime(2026, 11, 21, tzinfo=UTC))

TEMPLATE = """<document version="1" lang="en">
  <data><json>{ "seller": "Northwind", "word": "", "pages": 1, "color": "#000000" }</json></data>
  <page size="A6" margin="10mm">
    <header>%s</header>
    <footer font-size="8pt"><row gap="2mm"><p>{{ seller }}<br/>since 1923</p>
      <div><p text-align="end" color="{{ color }}">Page {{ page.number }} of {{ page.count }}</p></div></row>
    </footer>
  </page>
  <flow><p for="n in range(1, pages)" break-after="page">{{ n }}</p><p>The end</p></flow>
</document>"""


def prepare(header: str = "<p>{{ word }}</p>") -> PreparedTemplate:
    return prepare_template((TEMPLATE % header).encode())


def make(
    template: PreparedTemplate, resources: NoResources | None = None, **data: object
) -> Rendered:
    payload = Payload(PayloadKind.JSON, json.dumps(data).encode())
    return render(template, payload, options=OPTIONS, resources=resources)


def kept_by(template: PreparedTemplate, **data: object) -> int:
    """Lay out a document, and return how many headers and footers the template keeps then."""
    payload, findings = Payload(PayloadKind.JSON, json.dumps(data).encode()), Findings()
    document = build_document(template, payload, options=OPTIONS, findings=findings)[0]
    lay_out(document, resources=NoResources(), findings=findings)
    assert document.kept is not None
    return len(document.kept)


DOCUMENTS = (
    {"seller": "Northwind"},
    {"seller": "Southwind"},
    {"seller": "Northwind", "pages": 3},
    {"seller": "Northwind", "color": "#aa0000"},
    {"seller": "Northwind", "word": "A header of more lines than one " * 5},
    {"seller": "Northwind"},
)


def test_a_document_is_the_same_whatever_its_template_made_before() -> None:
    used = prepare()
    for _ in range(2):
        for data in DOCUMENTS:
            assert make(used, **data).pdf == make(prepare(), **data).pdf


def test_a_footer_has_the_text_of_its_own_document() -> None:
    template = prepare()
    make(template, seller="Northwind")
    text = text_of(make(template, seller="Southwind", pages=2).pdf)
    assert "Southwind" in text
    assert "Northwind" not in text
    assert "Page 2 of 2" in text


def test_a_template_keeps_a_bounded_number_of_headers_and_footers() -> None:
    template = prepare()
    counts = [kept_by(template, seller=f"Seller {n}", pages=3) for n in range(MAX_KEPT)]
    assert counts[0] > 0
    assert max(counts) == MAX_KEPT


def test_a_long_text_is_not_kept() -> None:
    template = prepare()
    before = kept_by(template)
    assert kept_by(template, word="long " * 1_000) <= before


def test_every_document_reports_what_its_footer_lacks() -> None:
    template = prepare()
    for _ in range(3):
        warnings = make(template, seller="North\U0010fffdwind").warnings
        assert [warning.code for warning in warnings] == ["missing-glyph"]


def test_every_document_reports_a_language_of_its_header_without_hyphenation() -> None:
    template = prepare('<p hyphens="auto" lang="ja">{{ word }}</p>')
    for _ in range(3):
        warnings = make(template, word="Wort").warnings
        assert [warning.code for warning in warnings] == ["no-hyphenation"]


def test_every_document_reports_a_header_that_does_not_fit() -> None:
    template = prepare('<p width="12mm" height="6mm">{{ word }}</p>')
    make(template, word="I")
    for _ in range(3):
        with pytest.raises(AuthoringError) as refused:
            make(template, word="Not short enough for it")
        assert refused.value.diagnostics[0].chain[0].tag_name == "p"


class Logos(NoResources):
    """A workspace whose image is replaced."""

    def __init__(self) -> None:
        self.color = (255, 0, 0)

    def find_image(self, name: str) -> bytes | None:
        written = io.BytesIO()
        Image.new("RGB", (8, 8), self.color).save(written, "PNG")
        return written.getvalue()


@pytest.mark.parametrize(
    "header",
    [
        '<img src="logo" height="10mm" alt="{{ word }}"/>',
        '<p>Logo <img src="logo" height="3mm" alt="{{ word }}"/></p>',
        '<div background-image="logo"><p>{{ word }}</p></div>',
    ],
)
def test_a_replaced_image_is_drawn(header: str) -> None:
    template, images = prepare(header), Logos()
    first = make(template, images, word="Logo").pdf
    images.color = (0, 0, 255)
    second = make(template, images, word="Logo").pdf
    assert second == make(prepare(header), images, word="Logo").pdf
    assert second != first
