"""Pairs of documents that differ in one attribute, for every attribute of the vocabulary.

A host is a document, or a part of one, with `@` where the attributes of one element go. A probe is
the value to try, and what else must be there for the value to matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from workers.engine.ports import Payload, PayloadKind

LONG_WORD: Final = "Donaudampfschifffahrtsgesellschaftskapitän" * 2
SOFT_WORD: Final = (
    "Donau\u00addampf\u00adschiff\u00adfahrts\u00adgesell\u00adschafts\u00adkapitän" * 2
)
INLINE: Final = (
    f"one  two\n three {{{{ 1.5 | number }}}} {LONG_WORD} {SOFT_WORD} and more of it, so that there "
    "are lines enough to be parted in two or in three or more lines"
)
SHORT: Final = "one  two\n {{ 1.5 | number }}"
BLOCKS: Final = f"<p>{INLINE}</p>"
# What a style gives to an element of any kind: colour for text, the rest for what has none.
STYLE: Final = (
    '<style name="s" color="red" opacity="0.5" break-before="page" border="1pt solid red"/>'
)
HEAD: Final = (
    '<page size="A6" margin="5mm"><footer height="6mm"><p>{{ page.number }}/{{ page.count }}</p>'
    '</footer></page><page name="wide" size="A6" margin="9mm"/>'
)
# Some of these leave room for a few lines of the element, whatever the size of its font.
# Families that elements are set in by themselves, each with a narrow font.
WIDTHS: Final = "".join(
    f'<font family="{family}" src="brand-regular"/><font family="{family}" src="brand-pair"/>'
    for family in ("Noto Sans", "JetBrains Mono")
)
SPACERS: Final = tuple(f'<p height="{height}mm">before</p>' for height in range(88, 128, 4))
OVERFLOWS: Final = "content-overflows"


@dataclass(frozen=True, slots=True)
class Probe:
    """A value whose effect is seen, next to `other` or no attribute at all.

    `base` is in both documents next to it, and alone if `is_bare`; `after` comes
    after the host, `host` is in place of the element's own. One that `is_near_foot` is tried
    with little room left on the page. `reported` is the code of the error by which the value is seen
    to work.
    """

    value: str
    other: str | None = None
    base: str = ""
    after: str = ""
    host: str = ""
    reported: str = ""
    payload: Payload | None = None
    is_bare: bool = False
    is_near_foot: bool = False


def _json(body: str) -> Payload:
    return Payload(PayloadKind.JSON, body.encode())


def _csv(body: str) -> Payload:
    return Payload(PayloadKind.CSV, body.encode())


def _overlay(part: str) -> Payload:
    return Payload(PayloadKind.XML, f"<document>{part}</document>".encode())


def _markdown(text: str) -> Payload:
    return Payload(PayloadKind.MARKDOWN, text.encode())


# --- hosts ----------------------------------------------------------------------------------------------


def _table(part: str) -> str:
    return f"<table>{part}</table>"


# Of any element: limits of hyphens are seen in words that have many, in a measure for some of them.
_HYPHENATED: Final = (
    "Die Versicherungsgesellschaft verpflichtet Versicherungsnehmer zur Schadensmeldung. " * 4
)
_LADDER: Final = f'<div width="34mm" lang="de" @><p>{_HYPHENATED}</p></div>'
_BRACKETED: Final = "日本3（「あ」）"
_EAST_ASIAN: Final = f'<div lang="ja" @><p>{_BRACKETED}</p></div>'
_KANA: Final = "コンピューター"
# Where an element's own attributes keep it from being a `div`.
_EAST_ASIANS: Final = {
    "grid": f"<grid @><p>{_BRACKETED}</p></grid>",
    "style": f'<document><style @/><flow><div class="s"><p>{_BRACKETED}</p></div></flow></document>',
}
_NARROW_KANA: Final = {
    "grid": f'<div width="11mm" lang="ja"><grid @><p>{_KANA}</p></grid></div>',
    "style": f'<document lang="ja"><style @/><flow><div width="11mm" class="s"><p>{_KANA}</p></div></flow></document>',
}
_LADDERS: Final = {
    "grid": f'<div width="34mm" lang="de"><grid @><p>{_HYPHENATED}</p></grid></div>',
    "style": f'<document><style @/><flow><div width="34mm" lang="de" class="s"><p>{_HYPHENATED}</p></div></flow></document>',
}


def _cell(tag: str) -> str:
    return _table(
        f'<col/><col width="20mm"/><tr><{tag} @>{INLINE}</{tag}><td>two</td></tr>'
        "<tr><td>three</td><td>four</td></tr>"
    )


def _section(tag: str) -> str:
    rows = "<tr><td>{{ 1.5 | number }}</td><td>more</td></tr>" * 7
    rows += f"<tr><td>1</td><td>{INLINE}</td></tr>"
    return _table(
        f'<col width="20mm"/><col/><tbody><tr><td>two</td><td>three</td></tr></tbody>'
        f"<{tag} @>{rows}</{tag}><tbody><tr><td>four</td><td>five</td></tr></tbody>"
    )


def _running(tag: str) -> str:
    return (
        f'<document>{STYLE}<page size="A6" margin="5mm"><{tag} @>{BLOCKS}</{tag}></page>'
        '<flow><p>text</p>{after}<p margin-top="auto">foot</p></flow></document>'
    )


def _data(parts: str, shown: str = "{{ a }}") -> str:
    return (
        '<document><data><json>{ "a": "1.50", "b": "2026-03-02", "rows": [ { "n": "1.50" } ] }</json>'
        f"{parts}</data><flow><p>{shown}</p></flow></document>"
    )


def _fonts(fonts: str) -> str:
    text = f"<p font-family='Brand, Noto Serif'>{SHORT}</p>"
    return f"<document>{fonts}<flow>{text}</flow></document>"


INVOICE: Final = """{
  "number": "2026-1", "issueDate": "2026-03-02", "typeCode": "380", "currency": "EUR",
  "seller": {"name": "A", "vatId": "DE1", "address": {"country": "DE"}}, "buyer": {"name": "B", "address": {"country": "FR"}},
  "lines": [{"id": "1", "name": "C", "quantity": 1, "unit": "C62", "price": {"net": 1}, "netAmount": 1, "vatCategory": "S", "vatRate": 19}],
  "vatBreakdown": [{"category": "S", "rate": 19, "taxable": 1, "vat": 0.19}],
  "totals": {"lines": 1, "withoutVat": 1, "vat": 0.19, "withVat": 1.19, "due": 1.19}}"""

TERMS: Final = ("Zürich", "Österreich", LONG_WORD, SOFT_WORD, "one long word " * 14)
MARKED: Final = "".join(f'<mark term="{term}"/>' for term in TERMS)
ROWS: Final = "<p for='r in rows'>{{ r.n }}</p>"

BILL: Final = (
    "{'iban': 'CH5800791123000889012', 'creditor': "
    "{'name': 'A', 'postal_code': '8000', 'town': 'B', 'country': 'CH'}}"
)
SLIP: Final = (
    "{'name': 'B', 'iban': 'DE02120300000000202051', 'amount': 1, "
    f"'text': '{'Invoice 42, ' * 11}'}}"
)
HOSTS: Final[dict[str, str]] = {
    "document": "<document @><flow><p>{{ 1.5 | number }} {{ now | datetime }}</p></flow></document>",
    "setting": "<document><setting @/><flow><p>{{ settings.a | default('none') }}</p></flow></document>",
    "data": '<document><data @><json>{ "a": 1 }</json></data><flow><p>{{ a }}</p></flow></document>',
    "field": _data("<field @/>"),
    "dataset": _data('<dataset @><field name="n"/></dataset>').replace("<p>{{ a }}</p>", ROWS),
    "let": _data("<let @/>", "{{ x }}"),
    "assert": _data("<assert @/>"),
    "style": f'<document><style @/>{HEAD}<flow>{{before}}<p class="s">{INLINE}</p>{{after}}</flow></document>',
    "color": '<document><color @/><flow><p color="brand">one</p></flow></document>',
    "font": f"<document><font @/><flow><p font-family='Brand, Noto Serif'>{SHORT}</p></flow></document>",
    "page": "<document><page @/><flow><p>one</p></flow></document>",
    "area": f"<document><page size='A6' margin='5mm'><area @/></page><flow>{BLOCKS}{BLOCKS}</flow></document>",
    "header": _running("header"),
    "footer": _running("footer"),
    "flow": f"<document>{STYLE}{HEAD}<flow @>{BLOCKS}</flow></document>",
    "security": "<document><security @/><flow><p>one</p></flow></document>",
    "attachment": '<document><attachment @/><flow><p>one</p></flow></document>',
    "einvoice": f"<document><data><json>{{\"a\": {INVOICE}, \"b\": {INVOICE.replace('2026-1', '2026-2')}}}</json></data><einvoice @/><flow><p>one</p></flow></document>",
    "marks": '<document duplex="true"><page size="A6"><marks @/></page><flow><p>one</p></flow></document>',
    "watermark": '<document><page size="A6"/><watermark @/><flow><p>one</p></flow></document>',
    **{
        tag: f"<{tag} @>{INLINE}</{tag}>"
        for tag in ("p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote")
    },
    **{tag: f"<{tag} @>{BLOCKS}</{tag}>" for tag in ("div", "box", "figure")},
    "pre": f"<pre @>one{SHORT}\nfour\nfive\nsix\nseven\neight</pre>",
    "row": f"<row @>{BLOCKS}<p>short</p></row>",
    "grid": f"<grid @>{f'<p>{SHORT}</p>' * 7}{BLOCKS}</grid>",
    **{tag: f"<{tag} @><li>{INLINE}</li><li>two</li></{tag}>" for tag in ("ul", "ol")},
    "li": f"<ul><li @>{INLINE}</li></ul>",
    "img": "<img @/>",
    "hr": "<hr @/>",
    "barcode": "<barcode @/>",
    "payment-slip": "<payment-slip @/>",
    "address": "<address @/>",
    "qr-bill": "<document lang='de'><page size='A4'/><flow><qr-bill @/></flow></document>",
    "chart": '<chart @><series y="n" label="One"/><series y="2 * n" label="Two"/></chart>',
    **{tag: f"<{tag} @/>" for tag in ("input", "textarea", "signature")},
    "select": "<select @><option value='a'>One {{ 1.5 | number }}</option></select>",
    "option": "<select name='s' label='S'><option @>b</option><option>c</option></select>",
    "series": '<chart type="column" data="n in [1500, 2]" x="n" alt=""><series @/><series y="n" label="One"/></chart>',
    "axis": '<chart type="column" data="n in [1500, 2]" x="n" y="n" alt=""><axis @/></chart>',
    "markdown": f"<markdown @>{INLINE}</markdown>",
    "insert": "<insert @/>",
    "break": "<break @/><p>{{ 1.5 | number }}</p>",
    "group": f"<group @><p>{SHORT}</p></group>",
    "import": "<document><import @/><flow><p>x</p></flow></document>",
    "messages": "<document><messages @><message key='a'>x</message></messages><messages lang='fr'><message key='a'>y</message></messages><flow><p>{{ 'a' | t }}</p></flow></document>",
    "message": "<document><messages lang='en'><message @>x</message></messages><flow><p>{{ 'a' | t }}</p></flow></document>",
    "part": "<document><part @><p>one</p></part><flow><use part='a'/></flow></document>",
    "use": f"<document><part name='a'><p>{SHORT}</p></part><part name='b'><p>two</p></part><flow><use @/></flow></document>",
    "table": _section("tbody").replace("<table", "<table @").replace("<tbody @", "<tbody"),
    "caption": _table(f"<caption @>{INLINE}</caption><tr><td>one</td></tr>"),
    "col": _table(f'<col @/><col width="20mm"/><tr><td>{INLINE}</td><td>two</td></tr>'),
    "total": _table("<total @/><tr for='n in [2, 1]'><td>{{ n }}</td></tr>") + "<p>{{ totals.t.all }}</p>",
    **{tag: _section(tag) for tag in ("thead", "tbody", "tfoot")},
    "tr": _table(f'<col width="20mm"/><col/><tr><td>three</td><td>four</td></tr><tr @><td>1</td><td>{INLINE}</td></tr><tr><td>five</td><td>six</td></tr>'),
    **{tag: _cell(tag) for tag in ("td", "th")},
    "toc": f"<h3 font-size='6pt'>{INLINE}</h3><table><caption>Title</caption><tr><td>one</td></tr></table><toc @/>",
    "index": f"<p>{MARKED}</p><index @/>",
    "ref": f'<p id="a">{SHORT}</p><p id="b">other</p><p><ref @/> of it</p>',
    "mark": f"<p>zero <mark @>{SHORT}</mark> and more</p><index/>",
    "running": "<document><page size='A6'><header><p>{{ running.a.first }}</p></header></page><flow><p>zero <running @/> more</p></flow></document>",
    "footnote": f"<p>zero<footnote @>{INLINE * 3}</footnote></p>",
    "endnotes": f"<p>zero<footnote>{INLINE}</footnote></p><endnotes @/>",
    **{
        tag: f"<p>zero <{tag} @>{SHORT} and more</{tag}> end</p>"
        for tag in ("span", "b", "i", "u", "s", "sub", "sup", "code", "bdi", "a")
    },
}  # fmt: skip

# What an element must carry in every pair, unless it is the attribute that is tried.
BASES: Final[dict[str, dict[str, str]]] = {
    "setting": {"name": "a", "value": "x"},
    "field": {"name": "a"},
    "dataset": {"name": "rows"},
    "let": {"name": "x", "value": "a"},
    "assert": {"test": "a == '1.50'"},
    "style": {"name": "s"},
    "color": {"name": "brand", "value": "red"},
    "font": {"family": "Brand", "src": "brand-variable"},
    "page": {"size": "A6"},
    "attachment": {"name": "a.txt", "value": "'one'"},
    "einvoice": {"from": "a"},
    "marks": {"type": "omr", "left": "5mm", "top": "5mm"},
    "watermark": {"text": "COPY"},
    "grid": {"grid-template-columns": "1fr 1fr"},
    "img": {"src": "dot", "alt": "", "width": "20mm"},
    "barcode": {"type": "qr", "value": "12345", "alt": "", "width": "20mm"},
    "qr-bill": {"value": BILL},
    "payment-slip": {"value": SLIP},
    "address": {"standard": "din5008-b", "value": "['one ' ~ 1.5 | number, '20457 Hamburg']"},
    "chart": {"type": "column", "data": "n in [1500, 2]", "x": "'name ' ~ n", "alt": "a chart"},
    "input": {"name": "f", "label": "L", "value": "one {{ 1.5 | number }}"},
    "textarea": {"name": "f", "label": "L", "value": "one {{ 1.5 | number }}"},
    "select": {"name": "f", "label": "L", "value": "a"},
    "signature": {"name": "f", "label": "L"},
    "series": {"y": "n"},
    "axis": {"side": "left"},
    "insert": {"flow": "notes"},
    "import": {"template": "more-parts@1"},
    "messages": {"lang": "en"},
    "message": {"key": "a"},
    "part": {"name": "a"},
    "use": {"part": "a"},
    "total": {"name": "t", "value": "n"},
    "a": {"href": "https://example.com/"},
    "ref": {"to": "a"},
    "mark": {"term": "one"},
    "running": {"name": "a", "value": "'one'"},
}

# --- probes ---------------------------------------------------------------------------------------------

_LINK: Final = '<p><a href="#t">to it</a></p>'
_TALL: Final = _table(f"<tr @><td><p height='112mm'/><p>{'word ' * 300}</p></td></tr>")
_CSV_FIELD: Final = _data('<dataset name="rows"><field @/></dataset>').replace(
    "<p>{{ a }}</p>", ROWS
)
_NO_IMAGE: Final = '<p>a <img src="none-such" alt="gone"/></p>'
_TALL_ROW: Final = '<tr><td height="60mm">row</td></tr>'
_LOW: Final = Probe("visible", base='height="8mm"', reported=OVERFLOWS)

# For every element that has the attribute.
PROBES: Final[dict[str, Probe]] = {
    "id": Probe("t", after=_LINK, reported="unknown-id"),
    "class": Probe("s"),
    "if": Probe("false"),
    "for": Probe("n in [1, 2]"),
    "lang": Probe("de"),
    "term": Probe("BT-1", reported="term-differs", payload=_overlay(f"<data><json>{{\"invoice\": {INVOICE}}}</json></data><einvoice from='invoice'/>")),
    "font-family": Probe("Noto Serif"),
    "font-size": Probe("5pt"),
    "font-weight": Probe("bold", other="normal"),
    "font-style": Probe("italic", other="normal"),
    "font-stretch": Probe("condensed"),
    "font-variant-caps": Probe("all-small-caps"),
    "font-variant-numeric": Probe("oldstyle-nums"),
    "font-variant-position": Probe("super"),
    "font-variant-ligatures": Probe("discretionary-ligatures"),
    "font-features": Probe("'cv99'"),
    "color": Probe("red"),
    "line-height": Probe("2"),
    "letter-spacing": Probe("1pt"),
    "word-spacing": Probe("1pt"),
    "text-align": Probe("right"),
    "text-indent": Probe("5mm"),
    "text-transform": Probe("uppercase"),
    "text-autospace": Probe("no-autospace", host=_EAST_ASIAN),
    "text-spacing-trim": Probe("space-all", host=_EAST_ASIAN),
    "line-break": Probe("normal", host=f'<div width="11mm" lang="ja" @><p>{_KANA}</p></div>'),
    "text-decoration": Probe("underline", other="line-through"),
    "white-space": Probe("pre-line", other="normal"),
    "direction": Probe("rtl"),
    "hyphens": Probe("none"),
    "hyphenate-limit-chars": Probe("40", base='hyphens="auto"', host=_LADDER),
    "hyphenate-limit-lines": Probe("1", base='hyphens="auto"', host=_LADDER),
    "hyphenate-limit-last": Probe("always", base='hyphens="auto"', host=_LADDER),
    "hyphenate-limit-zone": Probe("60%", base='hyphens="auto"', host=_LADDER.replace("34mm", "60mm")),
    "text-wrap": Probe("balance", base='font-size="6pt"'),
    "hanging-punctuation": Probe("optical", base='text-align="right"'),
    "initial-letter": Probe("2"),
    "line-grid": Probe("33pt"),
    "overflow-wrap": Probe("normal", reported="wider-than-container"),
    "vertical-align": Probe("3pt"),
    "width": Probe("60mm"),
    "height": Probe("115mm"),
    "min-width": Probe("70mm", base='width="60mm"'),
    "max-width": Probe("60mm"),
    "min-height": Probe("115mm"),
    "max-height": Probe("4mm", reported=OVERFLOWS),
    "margin": Probe("7mm"),
    "margin-top": Probe("7mm"),
    "margin-right": Probe("7mm"),
    "margin-bottom": Probe("9mm"),
    "margin-left": Probe("7mm"),
    "padding": Probe("3mm"),
    "padding-top": Probe("3mm"),
    "padding-right": Probe("3mm"),
    "padding-bottom": Probe("3mm"),
    "padding-left": Probe("3mm"),
    "border": Probe("2pt solid red"),
    "border-top": Probe("2pt dashed red"),
    "border-right": Probe("2pt solid red"),
    "border-bottom": Probe("2pt double red"),
    "border-left": Probe("2pt dotted red"),
    "border-radius": Probe("2mm", base='border="1pt solid red"'),
    "background": Probe("yellow"),
    "background-image": Probe("dot"),
    "opacity": Probe("0.5", base='background="yellow"'),
    "overflow": _LOW,
    "min-font-size": Probe("9pt", base='height="12mm" overflow="shrink"', reported=OVERFLOWS),
    "rotate": Probe("10deg"),
    "break-before": Probe("page"),
    "break-after": Probe("page"),
    "break-inside": Probe("avoid", is_near_foot=True),
    "orphans": Probe("9", is_near_foot=True),
    "widows": Probe("9", is_near_foot=True),
    "page": Probe("wide"),
    "counter-reset": Probe("page 7"),
    "counter-set": Probe("n 7", after='<p number="1" counter="n">x</p>'),
    "number": Probe("1"),
    "counter": Probe("n", base='number="1"', after='<p number="1" counter="n">x</p>'),
    "number-width": Probe("30mm", base='number="1"'),
    "left": Probe("5mm"),
    "top": Probe("5mm"),
    "right": Probe("5mm"),
    "bottom": Probe("5mm"),
    "final": Probe("true", reported="final"),
}  # fmt: skip


def _dataset(csv: str, **changes: str) -> Probe:
    return replace(Probe("", base='csv="true"', payload=_csv(csv)), **changes)


_FIELD: Final = {
    "name": Probe("b", other="a"),
    "label": Probe("M"),
    "required": Probe("true"),
    "interactive": Probe("false"),
    "for": Probe("n in [1, 2]", reported="duplicate-field"),
    "max-height": Probe("3mm"),
}
_FILLED: Final = {**_FIELD, "value": Probe("x", other="y"), "readonly": Probe("true")}
_FORMS: Final = "<document><messages lang='pl'><message @>x</message><message key='a' ?='other'>y</message></messages><flow><p>{{ 'a' | t(n=1) }}</p></flow></document>"

# For one element; these go before the common ones.
_SCOPED: Final = (
    '<document profile="pdf/ua-1" title="a" lang="en"><flow><table><tr><td>a</td><th @>b</th></tr>'
    "</table></flow></document>"
)
OWN: Final[dict[str, dict[str, Probe]]] = {
    "document": {
        "version": Probe("2", other="1", reported="wrong-value"),
        "extends": Probe("plain@1"),
        "title": Probe("Invoice"),
        "author": Probe("Ada"),
        "subject": Probe("Drills"),
        "keywords": Probe("one two"),
        "timezone": Probe("Asia/Tokyo"),
        "currency": Probe("GBP", other="EUR", host="<document @><flow><p>{{ 1 | currency }}</p></flow></document>"),
        "minus-sign": Probe("hyphen", other="minus", host="<document @><flow><p>{{ -1 | number }}</p></flow></document>"),
        "filename": Probe("a.pdf"),
        "duplex": Probe("true"),
        "print-checks": Probe("true", other="false", host='<document @><flow><p font-size="4pt">a</p></flow></document>'),
        "missing-glyph": Probe("error", other="warn", host="<document @><flow><p>ᱛ</p></flow></document>", reported="missing-glyph"),
        "profile": Probe("pdf/a-2b"),
        "output-intent": Probe("press", host='<document profile="pdf/x-4" title="a" @><flow><p>a</p></flow></document>', reported="output-intent"),
        "tagged": Probe("false"),
    },
    "data": {
        "final": Probe("true", reported="final", payload=_overlay('<data><json>{ "a": 2 }</json></data>')),
        "unknown": Probe("error", reported="unknown-member", payload=_overlay('<data><json>{ "A": 2 }</json></data>')),
    },
    "setting": {
        "name": Probe("b", other="a"),
        "type": Probe("color", base='value="#12"', reported="wrong-value"),
        "label": Probe("Colour", base='type="paper"', reported="wrong-value"),
        "value": Probe("y"),
        "values": Probe("y z", reported="wrong-value"),
        "final": Probe("true", reported="final", payload=_overlay('<setting name="a" value="y"/>')),
    },
    "field": {
        "name": Probe("b", other="a", base='required="true" type="date"', reported="wrong-data"),
        "type": Probe("date", reported="wrong-data"),
        "label": Probe("Number", host=_CSV_FIELD, base='name="n" required="true"', payload=_csv("Number\n2\n"), reported="csv"),
        "required": Probe("true", base="", payload=_json('{ "a": null }'), reported="required"),
        "pattern": Probe("x+", reported="wrong-data"),
        "values": Probe("x y", reported="wrong-data"),
        "min": Probe("2", base='type="decimal"', reported="wrong-data"),
        "max": Probe("1", base='type="decimal"', reported="wrong-data"),
        "maxlength": Probe("2", reported="wrong-data"),
        "format": Probe("dd.MM.yyyy", host=_CSV_FIELD, base='name="n" type="date"', payload=_csv("n\n02.03.2026\n"), reported="wrong-data"),
        "final": Probe("true", reported="final", payload=_overlay('<data><field name="a" type="decimal"/></data>')),
    },
    "dataset": {
        "name": Probe("others", other="rows", base='min-rows="1"', reported="row-count"),
        "label": Probe("Lines", base='min-rows="2"', reported="row-count"),
        "csv": Probe("true", payload=_csv("n\n2\n"), host=_data('<dataset @><field name="n"/></dataset><dataset name="more"/>'), reported="csv-dataset"),
        "header": _dataset("2\n3\n", value="false"),
        "delimiter": _dataset("n;m\n2;3\n", value=","),
        "decimal": _dataset("n\n2,5\n", value=",", host=_data('<dataset @><field name="n" type="decimal"/></dataset>').replace("<p>{{ a }}</p>", ROWS), reported="csv"),
        "required": Probe("true", payload=_json('{ "rows": [] }'), reported="required"),
        "min-rows": Probe("2", reported="row-count"),
        "max-rows": Probe("0", reported="row-count"),
        "final": Probe("true", reported="final", payload=_overlay('<data><dataset name="rows" min-rows="0"/></data>')),
    },
    "let": {
        "name": Probe("x", other="y", reported="unknown-name"),
        "value": Probe("b", other="a"),
        "final": Probe("true", reported="final", payload=_overlay('<data><let name="x" value="b"/></data>')),
    },
    "assert": {
        "test": Probe("a == '2'", other="a == '1.50'", reported="assert"),
        "message": Probe("The sums differ", base='test="false"', reported="assert"),
        "severity": Probe("warning", base='test="false"', reported="assert"),
        "if": Probe("false", base='test="false"', reported="assert"),
        "for": Probe("n in []", base='test="false"', reported="assert"),
        "lang": Probe("de", base='test="false" message="{{ 1.5 | number }}"', reported="assert"),
    },
    "style": {
        "optional-images": Probe("true", reported="image-missing", host=f'<document><style @/><flow><div class="s">{_NO_IMAGE}</div></flow></document>'),
        "name": Probe("s", other="x", base='color="red"', reported="unknown-style"),
        "element": Probe("p", other="h1", base='color="red"', is_bare=True, host="<document><style @/><flow><p>one</p></flow></document>"),
        "extends": Probe("b", host='<document><style name="b" color="red"/><style @/><flow><p class="s">one</p></flow></document>'),
        "list-style-type": Probe("square", host='<document><style @/><flow><ul class="s"><li>a</li></ul></flow></document>'),
        "stripe": Probe("red yellow", host='<document><style @/><flow><table class="s"><tr><td>a</td></tr></table></flow></document>'),
        "cell-padding": Probe("5mm", host='<document><style @/><flow><table class="s"><tr><td>a</td></tr></table></flow></document>'),
        "vertical-align": Probe("bottom", host='<document><style @/><flow><table><tr><td class="s">a</td><td height="9mm"/></tr></table></flow></document>'),
        "count-per": Probe("page", host='<document><style @/><flow><p>a<footnote class="s">b</footnote></p><p break-before="page">a<footnote class="s">b</footnote></p></flow></document>'),
        "final": Probe("true", base='color="red"', reported="final", payload=_overlay('<style name="s"/>')),
    },
    "font": {
        "family": Probe("Brand", other="Other"),
        "src": Probe("brand-black", other="brand-italic"),
        "font-weight": Probe("900"),
        "font-style": Probe(
            "italic",
            after="",
            host=_fonts('<font @/><font family="Brand" src="brand-black" font-style="normal"/>'),
        ),
        "font-stretch": Probe(
            "normal", other="50%", host=_fonts('<font @/><font family="Brand" src="brand-pair"/>')
        ),
        "index": Probe("1", base='src="brand-pair"'),
        "font-variation-settings": Probe("'slnt' -10", base='font-weight="500"'),
        "final": Probe(
            "true",
            host=_fonts("<font @/>"),
            payload=_overlay('<font family="Brand" src="brand-variable"/>'),
            reported="final",
        ),
    },
    "color": {
        "name": Probe("brand", other="x", reported="unknown-color"),
        "value": Probe("blue", other="red"),
        "spot": Probe("PANTONE 186 C"),
        "final": Probe("true", reported="final", payload=_overlay('<color name="brand" value="blue"/>')),
    },
    "page": {
        "media": Probe("slip"),
        "background-page": Probe("2", base='background-image="letterhead"'),
        "name": Probe("default", other="x", host='<document><page @/><flow><p>one</p></flow></document>'),
        "on": Probe("first", other="last", base='size="A6"', host="<document><page @/><flow><p>one</p><break/><p>two</p></flow></document>"),
        "size": Probe("A5"),
        "margin-right": Probe("3mm", host='<document><page @/><flow><p text-align="right">one</p></flow></document>'),
        "margin-bottom": Probe("30mm", host='<document><page @/><flow><p margin-top="auto">one</p></flow></document>'),
        "bleed": Probe("3mm", base='background="yellow"'),
        "marks": Probe("crop", base='bleed="3mm"'),
        "final": Probe("true", reported="final", payload=_overlay('<page size="A6"/>')),
    },
    "area": {
        "flow": Probe("notes", other="body", host='<document><page><area @/><area flow="body" top="30mm"/></page><flow><p>one</p></flow><flow name="notes"><p>two</p></flow></document>'),
        "columns": Probe("2"),
        "column-rule": Probe("1pt solid red", base='columns="2" height="30mm"'),
        "column-fill": Probe("balance", base='columns="2" column-gap="5mm"'),
        "column-gap": Probe("9mm", base='columns="2"'),
        "overflow": Probe("hidden", base='height="8mm"'),
        "height": Probe("25mm"),
        "bottom": Probe("110mm"),
    },
    "flow": {
        "optional-images": Probe("true", reported="image-missing", host=f"<document><flow @>{_NO_IMAGE}</flow></document>"),
        "name": Probe("notes", other="body", host='<document><flow @><p>one</p></flow><flow name="other"><p>x</p></flow></document>'),
        "replace": Probe("deny", reported="final", payload=_markdown("new")),
        "max-pages": Probe("1", reported="max-pages", host="<document><flow @><p>one</p><break/><p>two</p></flow></document>"),
        "final": Probe("true", reported="final", payload=_overlay("<flow><p>new</p></flow>")),
    },
    "security": {
        "user-password": Probe("secret"),
        "owner-password": Probe("secret", other="other"),
        "encryption": Probe("aes-128"),
        "print": Probe("low", other="none"),
        "copy": Probe("false"),
        "modify": Probe("false"),
        "annotate": Probe("false"),
        "fill-forms": Probe("false", base='annotate="false"'),
        "assemble": Probe("false", base='modify="false"'),
        "sign": Probe("contract"),
        "sign-field": Probe("nowhere", base='sign="contract"', reported="signature"),
        "final": Probe("true", reported="final", payload=_overlay('<security copy="false"/>')),
    },
    "attachment": {
        "name": Probe("b.txt", other="a.txt"),
        "type": Probe("text/csv"),
        "relationship": Probe("source"),
        "description": Probe("What it is"),
        "modified": Probe("2026-03-02"),
        "value": Probe("'two'", other="'one'"),
        "if": Probe("false"),
        "final": Probe("true", reported="final", payload=_overlay('<attachment name="a.txt" value="\'two\'"/>')),
    },
    "einvoice": {
        "profile": Probe("basic"),
        "syntax": Probe("ubl"),
        "rules": Probe("official"),
        "from": Probe("b", other="a"),
        "if": Probe("false"),
        "final": Probe("true", reported="final", payload=_overlay('<einvoice from="b"/>')),
    },
    "marks": {
        "type": Probe("itf", other="omr"),
        "left": Probe("40mm", other="5mm"),
        "top": Probe("40mm", other="5mm"),
        "format": Probe("{set}", base='type="code128"'),
        "job": Probe("A", base='type="code128" format="{job}{set}"'),
        "set": Probe("7", base='type="code128"'),
        "sequence": Probe("3"),
        "inserts": Probe("2"),
        "width": Probe("20mm"),
        "height": Probe("20mm", base='type="code128"'),
        "pitch": Probe("6mm"),
        "clear": Probe("40mm", host='<document duplex="true"><page size="A6"><marks @/></page><flow><p>one</p></flow></document>'),
    },
    "watermark": {
        "on": Probe("blank"),
        "text": Probe("MINE", other="COPY"),
        "src": Probe("dot", other="logo", is_bare=True),
        "layer": Probe("under"),
        "opacity": Probe("0.5"),
        "font-size": Probe("20pt"),
    },
    **{
        tag: {
            "max-height": Probe("8mm", reported=OVERFLOWS),
            "height": Probe("40mm"),
            "min-height": Probe("40mm"),
            "min-width": Probe("80mm", base='width="70mm"'),
            "max-width": Probe("70mm"),
            "text-decoration": Probe("underline", host=_running(tag).replace(BLOCKS, "loose text")),
        }
        for tag in ("header", "footer")
    },
    **{
        tag: {
            "outline": Probe("false"),
            "span": Probe("columns", host=f'<div columns="2"><p>one</p><{tag} @>two</{tag}><p>three</p></div>'),
        }
        for tag in ("h1", "h2", "h3", "h4", "h5", "h6")
    },
    "div": {
        "optional-images": Probe("true", reported="image-missing", host=f"<div @>{_NO_IMAGE}</div>"),
        "columns": Probe("2"),
        "column-gap": Probe("9mm", base='columns="2"'),
        "column-fill": Probe("auto", base='columns="2"', is_near_foot=True),
    },
    "row": {"gap": Probe("9mm"), "align-items": Probe("end")},
    "grid": {
        "grid-template-columns": Probe("50mm 40mm", other="40mm 50mm"),
        "grid-auto-rows": Probe("60mm"),
        "grid-auto-flow": Probe("column", base='grid-auto-rows="60mm"'),
        "column-gap": Probe("3mm"),
        "row-gap": Probe("3mm"),
        "skip": Probe("1"),
    },
    "box": {"layer": Probe("over", host='<document><page><box @ left="1mm" top="1mm" width="50mm" height="50mm" background="red"/></page><flow><p>one</p></flow></document>')},
    "ul": {"list-style-type": Probe("square")},
    "li": {"checked": Probe("true", other="false")},
    "ol": {"list-style-type": Probe("upper-roman"), "start": Probe("5")},
    "pre": {
        **{name: replace(PROBES[name], base=f'{PROBES[name].base} background="red"') for name in ("width", "min-width", "max-width", "margin-right")},
        "padding-right": Probe("3mm", base='text-align="right"'),
        "hyphens": Probe("none", base='white-space="normal"', host=f"<pre @>{INLINE}</pre>"),
        "overflow-wrap": Probe("normal", base='white-space="normal"', host=f"<pre @>{INLINE}</pre>", reported="wider-than-container"),
    },
    "hr": {"border-radius": Probe("2mm", base='background="red" height="5mm"')},
    "img": {
        "max-width": Probe("10mm", is_bare=True, base='src="logo" alt=""'),
        "src": Probe("logo", other="dot"),
        "alt": Probe("A dot"),
        "object-fit": Probe("fill", base='height="30mm"'),
        "object-position": Probe("left top", base='height="30mm"'),
        "optional": Probe("true", base='src="none-such"', reported="image-missing"),
        "page": Probe("2", base='src="letterhead" height="30mm"'),
        "max-height": Probe("4mm"),
        "margin-right": Probe("7mm", base='margin-left="auto"'),
    },
    "qr-bill": {
        "value": Probe(BILL.replace("'B'", "'C'"), other=BILL),
        "lang": Probe("fr"),
        "separator": Probe("text"),
        "id": Probe(
            "t",
            reported="unknown-id",
            host="<document><page size='A4'/><flow><qr-bill @/><p><a href='#t'>to it</a></p></flow></document>",
        ),
    },
    "address": {
        "standard": Probe("din5008-a", other="din5008-b"),
        "lang": Probe("ja", other="zh", base="value=\"'直'\""),
        "value": Probe("['A', 'B']", other="['A', 'C']"),
        "sender": Probe("Northwind Tools Ltd"),
        "remarks": Probe("['Registered']"),
        "fold-marks": Probe("true"),
    },
    "payment-slip": {
        "type": Probe("upn", other="sepa", reported="wrong-value"),
        "value": Probe(SLIP.replace("'B'", "'C'"), other=SLIP),
    },
    "barcode": {
        "max-width": Probe("10mm", is_bare=True, base='type="qr" value="12345" alt=""'),
        "type": Probe("datamatrix", other="qr"),
        "value": Probe("https://example.com/invoices/2026-0042", other="12345"),
        "alt": Probe("A code"),
        "show-text": Probe("true", base='type="code128"'),
        "level": Probe("H"),
        "correction": Probe("7", base='type="pdf417"'),
        "columns": Probe("4", base='type="pdf417"'),
        "escapes": Probe("true", base='value="A\\x41"'),
        "add-on": Probe("07", base='type="ean13" value="977123456700"'),
        "module": Probe("1mm", is_bare=True, base='type="qr" value="12345" alt=""'),
        "dpi": Probe("203"),
        "bar-width-reduction": Probe("0.1mm"),
        "quiet": Probe("false"),
        "max-height": Probe("4mm"),
        "margin-right": Probe("7mm", base='margin-left="auto"'),
    },
    "chart": {
        "type": Probe("bar", other="column"),
        "data": Probe("n in [1500, 3]", other="n in [1500, 2]"),
        "x": Probe("n", other="n + 1"),
        "y": Probe("n", other="n + 1", host="<chart @/>"),
        "value": Probe("0.5", other="0.6", is_bare=True, base='type="gauge" alt=""', host="<chart @/>"),
        "max": Probe("2", is_bare=True, base='type="gauge" value="0.5" alt=""', host="<chart @/>"),
        "alt": Probe("a chart", other=""),
        "title": Probe("Use by month"),
        "stack": Probe("sum"),
        "legend": Probe("bottom"),
        "colors": Probe("red blue"),
        "hatch": Probe("true"),
        "values": Probe("true"),
        "max-height": Probe("30mm"),
    },
    "input": {
        **_FILLED,
        "type": Probe("checkbox", other="text"),
        "checked": Probe("true", base='type="checkbox"'),
        "max-length": Probe("50"),
        "comb": Probe("20", base='width="80mm"'),
    },
    "textarea": {**_FILLED, "max-length": Probe("50"), "height": Probe("90mm")},
    "select": {**_FILLED, "value": Probe("a", other="")},
    "option": {
        "value": Probe("x"),
        "if": Probe("false"),
        "for": Probe("n in [1, 2]", reported="field-options"),
    },
    "signature": {**_FIELD, "margin-right": Probe("7mm", base='margin-left="auto"')},
    "series": {
        "y": Probe("n + 1", other="n"),
        "label": Probe("Two"),
        "color": Probe("red"),
    },
    "axis": {
        "side": Probe("right", other="left"),
        "title": Probe("kWh"),
        "min": Probe("-500"),
        "max": Probe("4000"),
        "format": Probe("currency('EUR')"),
        "ticks": Probe("2"),
        "grid": Probe("false"),
        "labels": Probe("false"),
    },
    "markdown": {
        "value": Probe("'other'", host="<markdown @/>"),
        "quotes": Probe("typographic", host='<markdown @>the "text"</markdown>'),
        "optional-images": Probe("true", reported="image-missing", host="<markdown @>![gone](none-such)</markdown>"),
    },
    "insert": {"flow": Probe("other", other="notes")},
    "messages": {
        "lang": Probe("de", other="en"),
        "final": Probe("true", reported="final", payload=_overlay('<messages lang="en"><message key="a">z</message></messages>')),
    },
    "message": {
        "key": Probe("b", other="c", base='plural="other"', host="<document><messages lang='en'><message @>x</message></messages><flow><p>{{ 'b' | t(n=1) }}</p></flow></document>", reported="unknown-message"),
        "plural": Probe("one", other="few", host=_FORMS.replace("?", "plural")),
        "ordinal": Probe("one", other="two", host=_FORMS.replace("?", "ordinal").replace("'pl'", "'en'")),
        "final": Probe("true", reported="final", payload=_overlay('<messages lang="en"><message key="a">z</message></messages>')),
    },
    "import": {
        "template": Probe("brand-parts@1", other="more-parts@1", host="<document><import @/><flow><p color='brand'>x</p></flow></document>"),
    },
    "part": {
        "name": Probe("b", other="a", reported="unknown-part"),
        "takes": Probe("who", reported="missing-argument"),
        "final": Probe("true", reported="final", payload=_overlay('<part name="a"/>')),
    },
    "use": {"part": Probe("b", other="a")},
    "break": {
        "to": Probe("right"),
        "for": Probe("n in []"),
        "need": Probe("5mm"),
        "if": Probe("false"),
    },
    "table": {"stripe": Probe("yellow"), "cell-padding": Probe("5mm")},
    "caption": {"on": Probe("rest")},
    "col": {
        "for": Probe("n in [1, 2]", other="n in [1]", base='width="20mm"', host=_table("<col @/><col/><tr><td>one</td><td>two</td><td>three</td></tr>"), reported="cell-count"),
        "if": Probe("false", reported="cell-count"),
        "vertical-align": Probe("bottom", host=_table("<col @/><col/><tr><td>one</td><td height='20mm'>two</td></tr>")),
        "width": Probe("15mm"),
        "span": Probe("2", host=_table("<col @ color='red'/><tr><td>one</td><td>two</td></tr>"), reported="cell-count"),
    },
    "total": {
        "name": Probe("u", other="t", reported="unknown-total"),
        "mode": Probe("max"),
        "value": Probe("n * 2", other="n"),
        "start": Probe("10"),
    },
    "thead": {"on": Probe("rest"), "for": Probe("n in []")},
    "tfoot": {"on": Probe("not-last"), "for": Probe("n in []")},
    "tr": {
        "orphans": Probe("9", host=_TALL.replace("112mm", "99mm")),
        "widows": Probe("25", host=_TALL),
        "repeat": Probe("true", host=_table(f"<tbody><tr @><td>head</td></tr>{_TALL_ROW * 3}</tbody>")),
        "count": Probe("false", host=_table("<total name='t' value='n'/><tr for='n in [2, 1]' @><td>{{ n }}</td></tr><tr for='n in [4]'><td>{{ n }}</td></tr>") + "<p>{{ totals.t.all }}</p>"),
    },
    **{
        tag: {
            "if": Probe("false", reported="cell-count"),
            "for": Probe("n in [1, 2]", reported="cell-count"),
            "colspan": Probe("2", host=_table(f"<tr><{tag} @>one</{tag}></tr><tr><td>two</td><td>three</td></tr>"), reported="cell-count"),
            "rowspan": Probe("2", host=_table(f"<tr><{tag} @>one</{tag}><td>two</td></tr><tr><td>three</td></tr>"), reported="cell-count"),
            "vertical-align": Probe("bottom", host=_table(f"<tr><{tag} @>one</{tag}><td height='20mm'>two</td></tr>")),
            **({"scope": Probe("row", host=_SCOPED, reported="missing-scope")} if tag == "th" else {}),
        }
        for tag in ("td", "th")
    },
    **{
        tag: {"direction": Probe("rtl", host=f"<p>zero <{tag} @>one!</{tag}> end</p>")}
        for tag in ("span", "b", "i", "u", "s", "sub", "sup", "code", "bdi")
    },
    "a": {
        "href": Probe("https://example.org/", other="https://example.com/"),
        "direction": Probe("rtl", host="<p>zero <a @>one!</a> end</p>"),
    },
    "mark": {
        "term": Probe("one, two", other="one"),
        "direction": Probe("rtl", host="<p>zero <mark @>one!</mark> end</p>"),
    },
    "running": {
        "name": Probe("b", other="a", reported="unknown-running-value"),
        "value": Probe("'two'", other="'one'"),
    },
    "ref": {
        "to": Probe("b", other="a"),
        "show": Probe("page", other="text"),
    },
    "toc": {
        "levels": Probe("1", other="1-3"),
        "of": Probe("table", other="headings"),
        "leader": Probe("line", other="dot"),
    },
    "footnote": {
        "number": Probe("i"),
        "number-width": Probe("30mm"),
        "counter": Probe("n", after="<p>one<footnote>two</footnote></p>"),
        "text-wrap": Probe("balance", host=f"<p>zero<footnote @>{INLINE}</footnote></p>"),
        "count-per": Probe("page", after='<p break-before="page">one<footnote>two</footnote></p>'),
        "margin-bottom": Probe("9mm", after="<p>one<footnote>two</footnote></p>"),
    },
    "index": {"lang": Probe("sv", other="en")},
}  # fmt: skip

# Lines of these are narrow, or too long for what is in them.
_HEADING: Final = "A heading that is broken into two lines"
_WRAPPED: Final = {
    "row": f'<row @><p width="30mm">{_HEADING}</p><p>one</p></row>',
    "pre": f'<pre @ white-space="pre-wrap" width="40mm">{_HEADING}</pre>',
    "table": f'<table @><col width="30mm"/><tr><td>{_HEADING}</td></tr></table>',
    "col": _table(f'<col @ width="30mm"/><tr><td>{_HEADING}</td></tr>'),
    "tr": _table(f'<col width="30mm"/><tr @><td>{_HEADING}</td></tr>'),
    **{
        tag: _table(f'<col width="30mm"/><{tag} @><tr><td>{_HEADING}</td></tr></{tag}>')
        for tag in ("thead", "tbody", "tfoot")
    },
    **{
        tag: _table(f'<col width="30mm"/><tr><{tag} @>{_HEADING}</{tag}></tr>')
        for tag in ("td", "th")
    },
}
# Lines that begin with a quote.
_QUOTED: Final = {
    "pre": "<pre @>“one</pre>",
    "footnote": "<p>zero<footnote @>one<br/>“two</footnote></p>",
    "toc": "<h3>“one</h3><toc @/>",
    "index": '<p>zero <mark term="“one"/></p><index @/>',
}
_FLOATING: Final = (
    '<document lang="en"><style element="h1"/><page size="A6" margin="10mm"><area columns="2"/></page><flow>'
    "<h1>One</h1><p>a</p><figure @><p>b</p><p>c</p></figure>"
    + "<p>d</p>"
    * 40
    + "<h1>Two</h1><p>e</p>"
    "</flow></document>"
)
OWN.setdefault("figure", {}).update(
    {
        "float": Probe("bottom", other="here", host=_FLOATING),
        "span": Probe("columns", base='float="bottom"', host=_FLOATING),
        "float-within": Probe(
            "flow", base='float="page"', host=_FLOATING.replace("<p>d</p>" * 40, "")
        ),
    }
)
OWN["footnote"]["widows"] = Probe(
    "9", host=f"<p>zero<footnote @>{'word ' * 150}</footnote></p>", is_near_foot=True
)
for _tag, _host in _LADDERS.items():
    for _name in ("chars", "lines", "last", "zone"):
        _limit = PROBES[f"hyphenate-limit-{_name}"]
        _measure = "60mm" if _name == "zone" else "34mm"
        _base = _limit.base + (' grid-template-columns="1fr"' if _tag == "grid" else "")
        OWN[_tag][f"hyphenate-limit-{_name}"] = replace(
            _limit, base=_base, host=_host.replace("34mm", _measure)
        )
for _tag, _host in _EAST_ASIANS.items():
    for _name in ("text-autospace", "text-spacing-trim"):
        OWN[_tag][_name] = replace(PROBES[_name], host=_host)
for _tag, _host in _NARROW_KANA.items():
    _base = ' grid-template-columns="1fr"' if _tag == "grid" else ""
    OWN[_tag]["line-break"] = replace(PROBES["line-break"], base=_base, host=_host)
for _tag, _host in _QUOTED.items():
    OWN.setdefault(_tag, {})["hanging-punctuation"] = Probe("optical", host=_host)
for _tag, _host in _WRAPPED.items():
    OWN.setdefault(_tag, {})["text-wrap"] = Probe("balance", host=_host)
