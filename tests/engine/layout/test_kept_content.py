"""Headers, footers and lines of short texts that a template keeps for its next documents."""

from __future__ import annotations

import gc
import io
import json
import weakref
from datetime import UTC, datetime

import pytest
from PIL import Image

from tests.engine.layout.test_own_fonts import FONTS, Stored
from tests.engine.test_pipeline import text_of
from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.fonts.sets import FontSet
from workers.engine.layout.document_fonts import DocumentFonts
from workers.engine.layout.elements.figures import SYMBOLS
from workers.engine.layout.lines.breaking import LINES
from workers.engine.layout.passes import lay_out
from workers.engine.pipeline import PreparedTemplate, build_document, prepare_template, render
from workers.engine.ports import Payload, PayloadKind, Rendered, RenderOptions, Resources
from workers.engine.tree.memo import ALL_TEMPLATES, BUDGET, MAX_NEW, Kind, TemplateMemo

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
    template: PreparedTemplate, resources: Resources | None = None, **data: object
) -> Rendered:
    payload = Payload(PayloadKind.JSON, json.dumps(data).encode())
    return render(template, payload, options=OPTIONS, resources=resources)


def kept_by(template: PreparedTemplate, **data: object) -> TemplateMemo:
    """Lay out a document, and return what the template remembers then."""
    payload, findings = Payload(PayloadKind.JSON, json.dumps(data).encode()), Findings()
    document = build_document(template, payload, options=OPTIONS, findings=findings)[0]
    lay_out(document, resources=Resources(), findings=findings)
    return document.memo


DOCUMENTS = (
    {"seller": "Northwind"},
    {"seller": "Southwind"},
    {"seller": "Northwind", "pages": 3},
    {"seller": "Northwind", "color": "#aa0000"},
    {"seller": "Northwind", "word": "A header of more lines than one " * 5},
    {"seller": "Northwind"},
)


def test_documents_in_a_font_of_the_account_are_the_same_whatever_was_made_before() -> None:
    source = (TEMPLATE % "<p>{{ word }}</p>").replace(
        "<data>", '<font family="Own" src="own"/><data>'
    )
    source = source.replace("<flow>", '<flow font-family="Own">').encode()
    used = prepare_template(source)
    brands = [Stored(own=FONTS[name]) for name in ("brand-regular", "brand-bold")]
    for _ in range(2):
        for brand in brands:  # the account has replaced the font by another of its name
            for data in DOCUMENTS:
                assert (
                    make(used, brand, **data).pdf
                    == make(prepare_template(source), brand, **data).pdf
                )


def test_what_is_kept_with_fonts_is_freed_with_them_and_with_the_template() -> None:
    fonts = FontSet(())
    kept = TemplateMemo()
    own = DocumentFonts(fonts).find_memo(kept)
    assert DocumentFonts(fonts).find_memo(kept) is own is not kept
    fonts.clear_caches()
    assert not fonts.memos
    DocumentFonts(fonts).find_memo(kept)
    del kept
    gc.collect()
    assert not fonts.memos


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


def test_a_long_text_of_a_header_is_not_remembered() -> None:
    template = prepare()
    before = kept_by(template).count(LINES)
    assert before > 0
    assert kept_by(template, word="long " * 1_000).count(LINES) <= before


def test_every_document_reports_what_its_footer_lacks() -> None:
    template = prepare()
    for _ in range(3):
        warnings = make(template, seller="North\U0010fffdwind").warnings
        assert [warning.code for warning in warnings] == ["missing-glyph"]


def test_every_document_reports_a_language_of_its_header_without_hyphenation() -> None:
    template = prepare('<p hyphens="auto" lang="sw">{{ word }}</p>')
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


LETTER = """<document version="1" lang="en">
  <data><json>{ "name": "Ann", "lines": 1, "width": "60mm", "size": "10pt" }</json></data>
  <style element="h1" color="#00539c"/>
  <page size="A6" margin="10mm"/>
  <flow>
    <h1>Our <b>offer</b><br/>for you</h1>
    <p width="{{ width }}" font-size="{{ size }}">Dear {{ name }},</p>
    <p hyphens="auto" text-align="justify" width="{{ width }}">Here is what you asked us for last week, and
      what it costs; see <a href="https://example.com">our site</a>.</p>
    <p for="n in range(1, lines)">Line {{ n }} for {{ name }}</p>
  </flow>
</document>"""

LETTERS = (
    {"name": "Ann"},
    {"name": "Bob", "width": "40mm"},
    {"name": "Ann", "size": "14pt"},
    {"name": "Ann", "lines": 300},
    {"name": "Ann"},
)


def test_a_letter_is_the_same_whatever_its_template_made_before() -> None:
    used = prepare_template(LETTER.encode())
    for _ in range(2):
        for data in LETTERS:
            fresh = prepare_template(LETTER.encode())
            assert make(used, **data).pdf == make(fresh, **data).pdf


def test_what_a_template_remembers_is_bounded() -> None:
    template = prepare_template(LETTER.encode())
    sizes = [kept_by(template, name=f"N{n}", lines=300).size for n in range(12)]
    assert sizes[0] <= MAX_NEW
    assert sizes[-2:] == pytest.approx([BUDGET, BUDGET], rel=0.01)
    assert max(sizes) <= BUDGET


def test_texts_of_one_document_do_not_push_out_those_of_all() -> None:
    template = prepare_template(LETTER.encode())
    memo = kept_by(template, name="Ann")
    before = memo.count(LINES)
    for n in range(12):
        kept_by(template, name=f"N{n}", lines=300)
    full = memo.count(LINES)
    kept_by(template, name="Ann")
    # The title and the sentence are found, the greeting has gone.
    assert before >= 3
    assert full - memo.count(LINES) < before


def test_every_document_reports_what_its_text_lacks() -> None:
    template = prepare_template(LETTER.encode())
    for _ in range(3):
        warnings = make(template, name="\U0010fffd").warnings
        assert [warning.code for warning in warnings] == ["missing-glyph"]


def test_every_document_reports_a_word_that_is_too_wide() -> None:
    template = prepare_template(LETTER.replace("Dear {{ name }}", "{{ name }}").encode())
    for _ in range(3):
        with pytest.raises(AuthoringError) as refused:
            make(template, name="Ann", width="2mm")
        assert refused.value.diagnostics[0].code == "wider-than-container"


CODES = """<document version="1" lang="en">
  <data><json>{ "value": "https://example.com", "level": "M", "quiet": "true" }</json></data>
  <page size="A6" margin="10mm"/>
  <flow><barcode type="qr" value="{{ value }}" level="{{ level }}" quiet="{{ quiet }}" alt="A site"/></flow>
</document>"""


def test_a_bar_code_is_the_same_whatever_its_template_made_before() -> None:
    used = prepare_template(CODES.encode())
    documents = [{}, {"value": "https://example.org"}, {"level": "H"}, {"quiet": "false"}, {}]
    made = [make(used, **data).pdf for data in documents]
    fresh = [make(prepare_template(CODES.encode()), **data).pdf for data in documents]
    assert made == fresh
    assert len(set(made)) == 4


def test_a_template_remembers_no_large_bar_codes() -> None:
    template = prepare_template(CODES.encode())
    assert kept_by(template, value="Code").count(SYMBOLS) == 1
    assert kept_by(template, value="large" * 400).count(SYMBOLS) == 1


TAGS = """<document version="1" lang="en">
  <data><json>{ "rows": 2, "span": 2, "lang": "en", "alt": "A site", "to": "", "note": false, "pale": "1",
    "label": "", "slant": "normal", "start": "", "before": false }</json></data>
  <page size="A6" margin="10mm"/>
  <flow>
    <h1 id="top">Title</h1>
    <p>{{ start }}<a href="https://example.org">There</a></p><p font-style="{{ slant }}">slanted</p>
    <p lang="{{ lang }}">See <a if="to" href="{{ to }}">there</a><footnote if="note">A note.</footnote>.</p>
    <div opacity="{{ pale }}"><p>pale</p></div>
    <barcode type="qr" value="1" alt="{{ alt }}" width="10mm"/>
    <table><col/><col/><tr for="n in range(rows)"><td colspan="{{ span }}">{{ n }}</td><td if="span == 1">b</td></tr></table>
    <p if="label"><input if="before" name="field" label="{{ label }}"/><group if="label == 'Text'">text</group>
      <input if="not before" name="field" label="{{ label }}"/></p>
  </flow>
</document>"""
TAGGED = (
    {},
    {"rows": 3},
    {"rows": 4, "span": 1},
    {"lang": "fr"},
    {"alt": "Another site"},
    {"to": "#top"},
    {"to": "https://example.com"},
    {"note": True},
    {"pale": "0.5"},
    {"label": "Name"},
    {"label": "Text"},
    {"label": "Text", "before": True},
    {"slant": "italic"},
    {"start": "Here or "},
    {"rows": 80},
    {},
)


def test_the_tags_of_a_document_are_the_same_whatever_its_template_made_before() -> None:
    used = prepare_template(TAGS.encode())
    fresh = [make(prepare_template(TAGS.encode()), **data).pdf for data in TAGGED]
    for _ in range(2):
        assert [make(used, **data).pdf for data in TAGGED] == fresh
    assert len(set(fresh)) == len(TAGGED) - 1  # the last is the first


def test_every_document_reports_a_value_that_does_not_suit_its_bar_code() -> None:
    template = prepare_template(CODES.replace('type="qr"', 'type="ean13"').encode())
    for _ in range(3):
        with pytest.raises(AuthoringError) as refused:
            make(template, value="12")
        assert refused.value.diagnostics[0].code == "barcode-value"


def test_only_the_templates_used_last_keep_anything() -> None:
    kind: Kind[int, None] = Kind(size_of=lambda _: BUDGET // 10)
    memos = [TemplateMemo() for _ in range(2 * ALL_TEMPLATES // MAX_NEW)]
    for memo in memos:
        memo.begin_document()
        for key in range(5):
            memo.remember(kind, key, lambda: None)
    kept = [memo.size > 0 for memo in memos]
    assert kept == sorted(kept), "those used first are cleared first"
    assert ALL_TEMPLATES - BUDGET <= sum(memo.size for memo in memos) <= ALL_TEMPLATES + 2 * BUDGET


def test_what_a_template_keeps_is_freed_with_it() -> None:
    template = prepare_template(LETTER.encode())
    kept = weakref.ref(kept_by(template))
    del template
    gc.collect()
    assert kept() is None


def test_results_used_longest_ago_are_removed_first() -> None:
    kind: Kind[str, str] = Kind(size_of=lambda text: len(text) * BUDGET // 10)
    memo = TemplateMemo()
    for key in "abcdefghijka":
        memo.begin_document()
        memo.remember(kind, key, lambda key=key: key)
    made: list[str] = []
    for key in "ab":
        memo.begin_document()
        memo.remember(kind, key, lambda key=key: made.append(key) or key)
    assert made == ["b"]
    assert memo.count(kind) == 10


class Logos(Resources):
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
