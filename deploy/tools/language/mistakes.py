"""Common mistakes of authors, one per rule, with the engine's diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from deploy.tools.language.examples import OPTIONS, Example, ExampleResources
from workers.engine.diagnostics import AuthoringError, Diagnostic
from workers.engine.pipeline import render
from workers.engine.ports import Payload, PayloadKind


@dataclass(frozen=True, slots=True)
class Mistake:
    """A document, or a part of one, that breaks the rule `code` at the element `tag`."""

    code: str
    tag: str
    text: str


def find_diagnostic(mistake: Mistake) -> Diagnostic:
    """Return the diagnostic that the engine reports for a mistake.

    Raises:
        LookupError: The engine does not report that rule at that element.
    """
    for diagnostic in _render(Example((mistake.tag,), mistake.text).document):
        tags = {place.tag_name for place in diagnostic.chain}
        if diagnostic.code == mistake.code and mistake.tag in tags:
            return diagnostic
    raise LookupError(f"{mistake.code} is not reported for {mistake.text}")


def _render(document: str) -> tuple[Diagnostic, ...]:
    payload = Payload(PayloadKind.XML, document.encode())
    try:
        return render(None, payload, options=OPTIONS, resources=ExampleResources()).warnings
    except AuthoringError as error:
        return error.diagnostics


def _with_data(inside: str, flow: str = "") -> str:
    return f"<document><data>{inside}</data><flow>{flow}</flow></document>"


def _of_invoice(record: str, beside: str = "", flow: str = "") -> str:
    data = f'<json>{{ "invoice": {record} }}</json>'
    return (
        f'<document><data>{data}</data><einvoice profile="minimum" from="invoice"/>{beside}'
        f"<flow>{flow}</flow></document>"
    )


GENERAL: Final = (
    Mistake("not-well-formed", "p", "<document><flow><p>Hello</flow></document>"),
    Mistake("unknown-element", "tabel", "<p>a</p><tabel/>"),
    Mistake("misplaced-element", "p", "<ul><p>a</p></ul>"),
    Mistake("misplaced-text", "ul", "<ul>a</ul>"),
    Mistake("unknown-attribute", "p", '<p colour="red">a</p>'),
    Mistake("missing-attribute", "img", '<img alt="Logo"/>'),
    Mistake("wrong-value", "p", '<p margin-top="12">a</p>'),
    Mistake("fixed-attribute", "style", '<style name="a" color="{{ ink }}"/>'),
    Mistake("unknown-style", "p", '<p class="nots">a</p>'),
    Mistake("unknown-color", "p", '<p color="brnad">a</p>'),
    Mistake("unknown-font", "p", '<p font-family="Arial">a</p>'),
    Mistake("duplicate-id", "p", '<p id="a">a</p><p id="a">b</p>'),
    Mistake("unknown-language", "p", '<p lang="xx">{{ 1 | number }}</p>'),
    Mistake("expression-syntax", "p", "<p>{{ 1 + }}</p>"),
    Mistake("unknown-name", "p", "<p>{{ total }}</p>"),
    Mistake("expression", "p", "<p>{{ 'a' + 1 }}</p>"),
    Mistake("page-value-outside-page-time", "p", "<p>{{ page.number }}</p>"),
    Mistake("unknown-total", "p", "<p>{{ totals.sum.all }}</p>"),
    Mistake("loop-needs-list", "p", '<p for="x in 3">a</p>'),
    Mistake("filter-precedence", "p", "<p>{{ 3 * 1.155 | round(2) }}</p>"),
    Mistake(
        "print-text",
        "p",
        '<document print-checks="true"><flow><p font-size="4.5pt">a</p></flow></document>',
    ),
    Mistake(
        "print-line",
        "p",
        '<document print-checks="true"><flow><p border="0.1pt solid black">a</p></flow></document>',
    ),
    Mistake(
        "print-image",
        "img",
        '<document print-checks="true"><flow><img src="logo" alt="" width="170mm"/></flow></document>',
    ),
    Mistake("missing-glyph", "p", "<p>ᱛ</p>"),
    Mistake("missing-feature", "p", '<p font-variant-caps="petite-caps">a</p>'),
    Mistake(
        "wider-than-container", "p", '<p white-space="nowrap" width="20mm">As wide as that</p>'
    ),
    Mistake("taller-than-area", "div", '<div height="300mm">a</div>'),
    Mistake("content-overflows", "div", '<div height="5mm"><p>one</p><p>two</p></div>'),
)

_BILL: Final = (
    "{'iban': 'CH5800791123000889012', 'creditor': "
    "{'name': 'A', 'postal_code': '8000', 'town': 'B', 'country': 'CH'}}"
)

_SPECIAL: Final = (
    Mistake("unknown-setting", "document", '<document timezone="Mars/Base"><flow/></document>'),
    Mistake("wrong-value", "setting", '<document><setting name="a" type="color" value="bleu"/><flow/></document>'),
    Mistake("filename", "document", '<document filename="a/b.pdf"><flow/></document>'),
    Mistake("duplicate-key", "data", "<document><data/><data/></document>"),
    Mistake("json", "json", _with_data('<json>{ "a": 1, }</json>')),
    Mistake("required", "field", _with_data('<field name="a" required="true"/>')),
    Mistake("wrong-data", "field", _with_data('<json>{ "a": "x" }</json><field name="a" type="date"/>')),
    Mistake("rule-type", "field", _with_data('<field name="a" type="date" maxlength="3"/>')),
    Mistake("crossing-paths", "field", _with_data('<field name="a"/><field name="a.b"/>')),
    Mistake("duplicate-key", "field", _with_data('<field name="a"/><field name="a"/>')),
    Mistake("row-count", "dataset", _with_data('<json>{ "a": [] }</json><dataset name="a" min-rows="1"/>')),
    Mistake("csv-dataset", "dataset", _with_data('<dataset name="a" csv="true"/><dataset name="b" csv="true"/>')),
    Mistake("unknown-name", "let", _with_data('<let name="a" value="b + 1"/>')),
    Mistake("assert", "assert", _with_data('<assert test="1 == 2" message="The sums differ"/>')),
    Mistake("style-key", "style", '<style font-size="8pt"/>'),
    Mistake("unknown-element", "style", '<style element="para" color="red"/>'),
    Mistake("unknown-style", "style", '<style name="a" extends="b"/>'),
    Mistake("style-circle", "style", '<document><style name="a" extends="b"/><style name="b" extends="a"/></document>'),
    Mistake("body-too-low", "page", '<document><page size="A6" margin="74mm 10mm"/><flow><p>a</p></flow></document>'),
    Mistake("no-room", "area", '<document><page><area left="180mm"/></page><flow><p>a</p></flow></document>'),
    Mistake("position-conflict", "area", '<document><page><area left="0" right="0" width="50mm"/></page><flow><p>a</p></flow></document>'),
    Mistake("unknown-flow", "area", '<document><page><area flow="bdy"/></page><flow><p>a</p></flow></document>'),
    Mistake("content-overflows", "header", '<header max-height="10mm"><p>one</p><p>two</p><p>three</p></header>'),
    Mistake("content-overflows", "footer", '<footer max-height="10mm"><p>one</p><p>two</p><p>three</p></footer>'),
    Mistake("unknown-page", "flow", '<document><flow page="wide"><p>a</p></flow></document>'),
    Mistake("max-pages", "flow", '<document><flow max-pages="1"><p>a</p><break/><p>b</p></flow></document>'),
    Mistake("empty-password", "security", '<document><security user-password="{{ \'\' }}"/><flow/></document>'),
    Mistake("signed-security", "security", '<document><security sign="contract" print="none"/><flow/></document>'),
    Mistake("signature", "security", '<document><security sign="contract" sign-field="seller"/><flow><signature name="buyer" label="Buyer"/></flow></document>'),
    Mistake("profile-security", "security", '<document profile="pdf/a-2b"><security/><flow/></document>'),
    Mistake("profile-attachment", "attachment", '<document profile="pdf/a-2b"><attachment name="a.txt">a</attachment><flow/></document>'),
    Mistake("empty-attachment", "attachment", '<document><attachment name="a.txt"/><flow/></document>'),
    Mistake("attachment-xml", "attachment", '<document><attachment name="a.xml">&lt;a&gt;</attachment><flow/></document>'),
    Mistake("einvoice-data", "einvoice", _of_invoice('{ "numbr": "1" }')),
    Mistake("einvoice-rule", "einvoice", _of_invoice('{ "number": "1" }')),
    Mistake("einvoice-syntax", "einvoice", _of_invoice("{}").replace("<einvoice", '<einvoice syntax="ubl"')),
    Mistake("einvoice-archive", "einvoice", _of_invoice('{ "number": "1" }', "<security/>")),
    Mistake("einvoice-twice", "einvoice", _of_invoice('{ "number": "1" }', '<einvoice from="invoice"/>')),
    Mistake("term-differs", "p", _of_invoice('{ "number": "1" }', flow='<p term="BT-1">Invoice 2</p>')),
    Mistake("term-count", "p", _of_invoice('{ "lines": [{ "id": "1" }, { "id": "2" }] }', flow='<p term="BT-126">1</p>')),
    Mistake("term-content", "img", _of_invoice('{ "number": "1" }', flow='<p term="BT-1"><img src="logo" alt=""/></p>')),
    Mistake("unknown-id", "ref", '<p id="interest">a</p><p><ref to="intrest"/></p>'),
    Mistake("no-number", "ref", '<p id="a">a</p><p><ref to="a" show="number"/></p>'),
    Mistake("no-text", "ref", '<div id="a" height="5mm"/><p><ref to="a"/></p>'),
    Mistake("reference-circle", "ref", '<p id="a">See <ref to="a"/></p>'),
    Mistake("misplaced-element", "ref", '<header><p><ref to="a"/></p></header>'),
    Mistake("number-levels", "style", '<document><style element="h2" number="1.1"/><flow/></document>'),
    Mistake("unknown-counter", "style", '<style name="a" number="{clause}.{a}"/>'),
    Mistake("empty-contents", "toc", "<toc/>"),
    Mistake("empty-index", "index", "<index/>"),
    Mistake("missing-attribute", "chart", '<chart type="line" data="n in [1, 2]" x="n" alt=""/>'),
    Mistake("misplaced-attribute", "chart", '<chart type="line" stack="sum" data="n in [1, 2]" x="n" y="n" alt=""/>'),
    Mistake("wrong-value", "chart", "<chart type=\"line\" data=\"t in ['a', 'b']\" x=\"t\" y=\"t\" alt=\"\"/>"),
    Mistake("chart-empty", "chart", '<chart type="line" data="n in []" x="n" y="n" alt=""/>'),
    Mistake("chart-too-dense", "chart", '<chart type="column" data="n in range(5000)" x="n" y="n" alt=""/>'),
    Mistake("chart-labels", "chart", '<chart type="column" data="n in range(40)" x="\'part \' ~ n" y="n" alt=""/>'),
    Mistake("chart-range", "chart", '<chart type="column" data="n in [1, 9]" x="n" y="n" alt=""><axis side="left" max="5"/></chart>'),
    Mistake("chart-too-small", "chart", '<chart type="column" data="n in [1, 9]" x="n" y="n" height="3mm" alt=""/>'),
    Mistake("wrong-value", "mark", '<p><mark term="a, b, c, d"/>e</p>'),
    Mistake("no-effect", "caption", '<figure><p>a</p><caption on="first">b</caption></figure>'),
    Mistake("misplaced-link", "import", '<document><import template="brand@1"/><flow/></document>'),
    Mistake("unknown-running-value", "header", '<document><page><header>{{ running.sectoin.last }}</header></page><flow><running name="section" value="1"/></flow></document>'),
    Mistake("misplaced-element", "running", '<header><running name="section" value="1"/></header>'),
    Mistake("nested-columns", "div", '<div columns="2"><div columns="2"><p>a</p></div></div>'),
    Mistake("outside-paper", "box", '<document><page><box left="200mm" top="10mm" width="20mm" height="9mm"/></page><flow><p>a</p></flow></document>'),
    Mistake("heading-level", "h3", "<h1>a</h1><h3>b</h3>"),
    Mistake("missing-alt", "img", '<img src="logo"/>'),
    Mistake("image-missing", "img", '<img src="logos" alt=""/>'),
    Mistake("missing-alt", "barcode", '<barcode type="qr" value="a"/>'),
    Mistake("barcode-value", "barcode", '<barcode type="epc-qr" alt="" value="{{ {\'name\': \'A\', \'iban\': \'GB00\', \'amount\': 1} }}"/>'),
    Mistake("barcode-size", "barcode", '<barcode type="swiss-qr" alt="" width="30mm" value="{{ {\'iban\': \'CH5800791123000889012\', \'creditor\': {\'name\': \'A\', \'postal_code\': \'8000\', \'town\': \'B\', \'country\': \'CH\'}} }}"/>'),
    Mistake("qr-bill-value", "qr-bill", f'<qr-bill value="{_BILL.replace("CH58", "CH59")}"/>'),
    Mistake("qr-bill-columns", "qr-bill", f'<document><page><area columns="2"/></page><flow><qr-bill value="{_BILL}"/></flow></document>'),
    Mistake("payment-slip-value", "payment-slip", '<payment-slip value="{ \'name\': \'A\', \'iban\': \'GB00\', \'amount\': 1 }"/>'),
    Mistake("address-lines", "address", '<address standard="us-10" value="[1, 2, 3, 4, 5, 6]"/>'),
    Mistake("address-width", "address", """<address standard="us-10" value="'a line that does not fit ' ~ 'into the window of its envelope'"/>"""),
    Mistake("address-window", "address", """<document><page margin="20mm"/><flow><address standard="us-10" value="'A'"/><p margin-top="45mm">in the way</p></flow></document>"""),
    Mistake("qr-bill-paper", "qr-bill", f'<document><page size="Letter"/><flow><qr-bill value="{_BILL}"/></flow></document>'),
    Mistake("barcode-text", "barcode", '<barcode type="datamatrix" alt="" show-text="true" width="8mm" value="far too long for so small a code"/>'),
    Mistake("unknown-flow", "insert", '<insert flow="nots"/>'),
    Mistake("flow-cycle", "insert", '<document><flow><insert flow="a"/></flow><flow name="a"><insert flow="a"/></flow></document>'),
    Mistake("unknown-message", "p", '<document><messages lang="en"><message key="dear">Dear</message></messages><flow><p>{{ \'deer\' | t }}</p></flow></document>'),
    Mistake("missing-message", "message", '<document lang="de"><messages lang="en"><message key="dear">Dear</message></messages><flow><p>{{ \'dear\' | t }}</p></flow></document>'),
    Mistake("message-argument", "message", '<document><messages lang="en"><message key="dear">Dear {{ name }}</message></messages><flow><p>{{ \'dear\' | t }}</p></flow></document>'),
    Mistake("plural-category", "message", '<document><messages lang="en"><message key="days" plural="few">days</message></messages><flow/></document>'),
    Mistake("else-without-if", "else", "<p>a</p><else><p>b</p></else>"),
    Mistake("part-cycle", "use", '<document><part name="a"><use part="a"/></part><flow><use part="a"/></flow></document>'),
    Mistake("unknown-name", "p", '<document><part name="a" takes="who"><p>{{ whom }}</p></part><flow><use part="a" who="Ada"/></flow></document>'),
    Mistake("unknown-part", "use", '<document><part name="address"><p>a</p></part><flow><use part="adress"/></flow></document>'),
    Mistake("missing-argument", "use", '<document><part name="a" takes="who, heading=\'To\'"><p>{{ who }}</p></part><flow><use part="a"/></flow></document>'),
    Mistake("unknown-argument", "use", '<document><part name="a" takes="heading"><p>{{ heading }}</p></part><flow><use part="a" heading="To" hading="b"/></flow></document>'),
    Mistake("unused-content", "use", '<document><part name="a"><p>a</p></part><flow><use part="a"><p>b</p></use></flow></document>'),
    Mistake("misplaced-element", "slot", "<slot/>"),
    Mistake("wrong-value", "part", '<document><part name="a" takes="page"><p>a</p></part><flow><use part="a" page="x"/></flow></document>'),
    Mistake("columns-too-wide", "table", '<table width="50mm"><col width="30mm" span="2"/><tr><td/><td/></tr></table>'),
    Mistake("total-without-rows", "total", '<table><col/><total name="sum" value="1"/><tr><td>a</td></tr></table>'),
    Mistake("total-not-known-here", "td", '<table><col/><total name="sum" value="n"/><tr for="n in range(3)"><td>{{ totals.sum.before }}</td></tr></table>'),
    Mistake("rowspan", "td", '<table><col/><col/><tr><td rowspan="3">a</td><td>b</td></tr><tr><td>c</td></tr></table>'),
    Mistake("cell-count", "tr", "<table><col/><col/><tr><td>a</td></tr></table>"),
    Mistake("unknown-id", "a", '<p><a href="#anex">a</a></p>'),
)  # fmt: skip


def _by_tag() -> dict[str, tuple[Mistake, ...]]:
    tags = dict.fromkeys(mistake.tag for mistake in _SPECIAL)
    return {tag: tuple(m for m in _SPECIAL if m.tag == tag) for tag in tags}


SPECIAL: Final[Mapping[str, tuple[Mistake, ...]]] = MappingProxyType(_by_tag())
