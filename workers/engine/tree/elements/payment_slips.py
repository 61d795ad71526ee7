"""Payment slips: a code with its frame and the words that say the same (decision 425).

The SEPA payment slip is a block. The QR-bill is the payment part and receipt of a Swiss invoice, as
positioned boxes of 210 × 105 mm: its measures are those of SIX, Implementation Guidelines QR-bill,
version 2.3, section 3, and of its style guide, in millimetres from the upper left corner of the bill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeVar

from workers.engine.barcodes import (
    BILL_TEXTS,
    NOTICES,
    SLIP_TEXTS,
    InvalidPaymentError,
    SepaSlip,
    SwissBill,
    adapt_signs,
    read_sepa_slip,
    read_swiss_bill,
)
from workers.engine.diagnostics import SourceLocation
from workers.engine.syntax.nodes import Element
from workers.engine.tree import nodes
from workers.engine.tree.build_state import BuildState, Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes, source_maker
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.block_builder import BlockBuilder, StyledBlocks, parse_properties
from workers.engine.tree.elements.figures import warn_of_signs
from workers.engine.tree.expressions.formats import get_formats, make_currency
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.tree.styles.computed import Style
from workers.engine.units import Length, mm

T = TypeVar("T")

_GAP: Final = mm(4)
_UTC: Final = "UTC"  # of formats, which need a time zone that no amount has

_COLUMN: Final = {"width": "34mm"}
# With its quiet zone, on white whatever the background: modules of 0.44 mm at 331 bytes.
_CODE_STYLE: Final = {"width": "34mm", "background": "white"}
_TITLE: Final = {"font-weight": "bold", "margin-bottom": "2.5mm"}
_LABEL: Final = {"font-size": "0.75em", "margin-bottom": "0"}
_VALUE: Final = {"margin-bottom": "2mm"}
_SCAN: Final = {"font-size": "0.75em", "margin-bottom": "0", "text-align": "center"}
_AMOUNT: Final = {**_VALUE, "white-space": "nowrap"}
_BLANK: Final = {
    **_VALUE,
    "margin-top": "0.7mm",
    "width": "40mm",
    "height": "7mm",
    "border": "0.5pt solid black",
}


def compile_payment_slip(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a `payment-slip`."""
    common, sheet, location = BlockBuilder(element, context), context.sheet, element.location
    payment = context.compile_expression(element.attributes.get("value", "none"), location)

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        value, is_sound = payment.try_evaluate(scope)
        if not is_sound:
            return
        computed = common.element_style.compute(scope, parent)
        source, name = common.source(scope), common.read_id(scope)
        slip = _read(value, "name, iban and amount", read_sepa_slip, scope, location)
        if slip is None:
            return
        blocks = _SlipBuilder(StyledBlocks(sheet, computed, source)).build(slip, value)
        out.append(nodes.Container(source, nodes.Role.DIV, computed.style, blocks, None, name))

    return NodeBuilder(build, is_static=False)


def _read(
    value: object,
    members: str,
    read: Callable[[Mapping[str, Any]], T],
    scope: Scope,
    location: SourceLocation,
) -> T | None:
    """Return the printed values of a payment, None if it is reported as invalid."""
    tag = location.tag_name
    try:
        if not isinstance(value, Mapping):
            raise InvalidPaymentError(f"The value of `{tag}` must be an object with {members}")
        return read(value)
    except InvalidPaymentError as wrong:
        message = f"{wrong}{nodes.describe_loops(scope.loop)}"
        scope.state.findings.error(f"{tag}-value", message, location)
        return None


@dataclass(frozen=True, slots=True)
class _SlipBuilder:
    """Builds the content of one slip, in the fonts and colours of the document."""

    blocks: StyledBlocks

    @property
    def texts(self) -> Mapping[str, str]:
        """The words in the language of the element, in English if there are none."""
        lang = self.blocks.parent.inherited.lang.partition("-")[0].lower()
        return SLIP_TEXTS.get(lang, SLIP_TEXTS["en"])

    def build(self, slip: SepaSlip, value: Mapping[str, Any]) -> tuple[nodes.Block, ...]:
        texts, make = self.texts, self.blocks
        code = make.box(_COLUMN, (self._code(value), make.text(texts["scan"], _SCAN)))
        columns = (code, make.box({}, self._words(slip)))
        row = nodes.Row(make.source, make.style({}), columns, _GAP, "start")
        return make.text(texts["title"], _TITLE), row

    def _words(self, slip: SepaSlip) -> tuple[nodes.Block, ...]:
        texts = self.texts
        accounts = [("IBAN", slip.iban), ("BIC", slip.bic)]
        further = [(texts["reference"], slip.reference), (texts["remittance"], slip.remittance)]
        return (
            *self._field(texts["beneficiary"], slip.name),
            *(block for each in accounts for block in self._field(*each)),
            *self._amount(slip.amount),
            *(block for each in further for block in self._field(*each)),
        )

    def _field(self, label: str, value: str) -> tuple[nodes.Block, ...]:
        if not value:
            return ()
        return self.blocks.text(label, _LABEL), self.blocks.text(value, _VALUE)

    def _amount(self, amount: Decimal | None) -> tuple[nodes.Block, ...]:
        texts = self.texts
        if amount is None:
            return self.blocks.text(f"{texts['amount']} (EUR)", _LABEL), self.blocks.box(_BLANK, ())
        formats = get_formats(self.blocks.parent.inherited.lang, "EUR", _UTC)
        shown = str(make_currency(formats)(amount))
        return self.blocks.text(texts["amount"], _LABEL), self.blocks.text(shown, _AMOUNT)

    def _code(self, value: Mapping[str, Any]) -> nodes.Block:
        return nodes.Barcode(
            "epc-qr",
            value,
            source=self.blocks.source,
            style=self.blocks.style(_CODE_STYLE),
            alt=self.texts["code"],
            shows_text=False,
            module=None,
        )


BILL_VALUE: Final = "qr-bill-value"
WIDTH: Final = 210
HEIGHT: Final = 105
_RECEIPT_WIDTH: Final = 62
_CODE_SIDE: Final = 46
_SEPARATION_HEIGHT: Final = 5  # of the instruction above the bill
_MARK: Final = (3.0, 0.265)  # a corner mark: its length, and 0.75 pt of width

# Whatever the document states, a bill looks as SIX prescribes.
_PLAIN: Final = {
    "font-family": "Liberation Sans",
    "font-size": "10pt",
    "font-weight": "normal",
    "font-stretch": "normal",
    "font-style": "normal",
    "color": "black",
    "line-height": "11pt",
    "letter-spacing": "0",
    "text-align": "left",
    "text-indent": "0",
    "text-transform": "none",
    "text-decoration": "none",
    "white-space": "normal",
    "hyphens": "none",
    "text-wrap": "stable",
    "direction": "ltr",
}


class _TextSizes(NamedTuple):
    """The sizes of text in points: headings and values with their line heights (3.4)."""

    heading: float
    value: float
    line: float
    amount_line: float


_RECEIPT: Final = _TextSizes(6, 8, 9, 11)
_PAYMENT: Final = _TextSizes(8, 10, 11, 13)
_FURTHER: Final = _TextSizes(7, 7, 8, 8)
_TITLE_SIZE: Final = 11.0


class _Area(NamedTuple):
    """A rectangle of the bill."""

    x: float
    y: float
    width: float
    height: float


class _Part(NamedTuple):
    """The measures of receipt or payment part."""

    sizes: _TextSizes
    title: _Area
    information: _Area
    currency: _Area
    amount: _Area
    blank_amount: _Area
    blank_debtor: tuple[float, float]


_RECEIPT_PART: Final = _Part(
    _RECEIPT,
    _Area(5, 5, 52, 7),
    _Area(5, 12, 52, 56),
    _Area(5, 68, 12, 14),
    _Area(17, 68, 40, 14),
    _Area(27, 68, 30, 10),
    (52, 20),
)
_PAYMENT_PART: Final = _Part(
    _PAYMENT,
    _Area(67, 5, 51, 7),
    _Area(118, 5, 87, 85),
    _Area(67, 68, 15, 22),
    _Area(82, 68, 36, 22),
    _Area(78, 72, 40, 15),
    (65, 25),
)
_ACCEPTANCE: Final = _Area(5, 82, 52, 18)
_SYMBOL: Final = _Area(67, 17, _CODE_SIDE, _CODE_SIDE)
_PROCEDURES: Final = _Area(67, 90, 138, 10)

_MAX_STYLES: Final = 64  # styles of a parent with styles of a bill, by element
_LEAST_SIZE: Final = "6pt"  # of headings, which are the smallest text of a part
# Values of 8 pt in the receipt: lines beside three headings and the space between them, and characters.
_RECEIPT_LINES: Final = 12
_RECEIPT_CHARACTERS: Final = 32


def compile_qr_bill(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a `qr-bill`."""
    source, location, sheet = source_maker(element.location), element.location, context.sheet
    payment = context.compile_expression(element.attributes.get("value", "none"), location)
    lang, separator, identity = context.compile_attributes(element, "lang", "separator", "id")
    blocks: dict[tuple[ComputedStyle, str], StyledBlocks] = {}

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        state = scope.state
        value, is_sound = payment.try_evaluate(scope)
        if not is_sound:
            return
        stated = lang.read(scope) or parent.inherited.lang.partition("-")[0].lower()
        language = stated if stated in BILL_TEXTS else "en"
        own = source(scope)
        name = identity.read(scope)
        if name is not None:
            state.register_id(name, identity.location)
        value = _complete(value, language, state, location)
        bill = _read(
            value, "iban, creditor, amount and reference", read_swiss_bill, scope, location
        )
        if bill is None:
            return
        key = (parent, language)
        if key not in blocks:
            if len(blocks) >= _MAX_STYLES:
                blocks.clear()
            plain = sheet.compute(parent, parse_properties(_PLAIN), lang=language)
            blocks[key] = StyledBlocks(sheet, plain, own)
        drawing = _BillBuilder(replace(blocks[key], source=own), language)
        content = replace(drawing.build(bill, value, separator.read(scope)), id=name)
        out.append(nodes.PageFoot(own, sheet.compute_anonymous(parent).style, (content,)))

    return NodeBuilder(build, is_static=False)


def _complete(value: Any, language: str, state: BuildState, location: SourceLocation) -> Any:
    """Return a bill in accepted signs, and with the words that an amount of 0 needs."""
    if not isinstance(value, Mapping):
        return value
    warn_of_signs("qr-bill", value, state, location)
    adapted, _ = adapt_signs(value)
    amount = adapted.get("amount")
    is_nothing = isinstance(amount, int | Decimal) and not isinstance(amount, bool) and amount == 0
    if is_nothing and not adapted.get("message"):
        words = NOTICES[language]
        state.findings.warn(
            BILL_VALUE, f'The amount of "qr-bill" is 0, so its message is "{words}"', location
        )
        return {**adapted, "message": words}
    return adapted


def _count_receipt_lines(bill: SwissBill) -> int:
    """Estimate the lines that the values need in the receipt."""
    values = (bill.iban, bill.reference, *bill.creditor, *bill.debtor)
    return sum(-(-len(value) // _RECEIPT_CHARACTERS) for value in values)


def _without_street(address: tuple[str, ...]) -> tuple[str, ...]:
    """Omit the street, as the guidelines permit in the receipt."""
    return (address[0], address[-1]) if len(address) > 2 else address


class _BillBuilder:
    """Builds the boxes of one bill."""

    def __init__(self, blocks: StyledBlocks, language: str) -> None:
        self._blocks = blocks
        self._texts = BILL_TEXTS[language]

    def build(self, bill: SwissBill, value: Mapping[str, Any], separator: str) -> nodes.Container:
        above = _SEPARATION_HEIGHT if separator == "text" else 0
        receipt, payment = self._receipt(bill), self._payment_part(bill, value)
        parts = (*self._separation(separator), *receipt, *payment)
        return self._box(WIDTH, HEIGHT, parts, {"margin-top": f"{above}mm"}, is_box=True)

    # --- parts ----------------------------------------------------------------------------------

    def _receipt(self, bill: SwissBill) -> Iterable[nodes.Block]:
        texts, part = self._texts, _RECEIPT_PART
        yield self._title(texts["receipt"], part)
        yield self._place(part.information, self._information(bill, part), is_shrunk=True)
        yield from self._amount(bill, part)
        style = self._style(_RECEIPT.heading, _RECEIPT.line, is_bold=True, align="right")
        yield self._place(_ACCEPTANCE, (self._paragraph((texts["acceptance_point"],), style),))

    def _payment_part(self, bill: SwissBill, value: Mapping[str, Any]) -> Iterable[nodes.Block]:
        part = _PAYMENT_PART
        yield self._title(self._texts["payment_part"], part)
        yield self._place(_SYMBOL, (self._code(value),))
        yield from self._amount(bill, part)
        yield self._place(part.information, self._information(bill, part), is_shrunk=True)
        if bill.procedures:
            yield self._place(_PROCEDURES, tuple(map(self._procedure, bill.procedures)))

    def _title(self, text: str, part: _Part) -> nodes.Block:
        style = self._style(_TITLE_SIZE, _TITLE_SIZE, is_bold=True)
        return self._place(part.title, (self._paragraph((text,), style),))

    def _information(self, bill: SwissBill, part: _Part) -> tuple[nodes.Block, ...]:
        texts, is_payment = self._texts, part is _PAYMENT_PART
        if not is_payment and _count_receipt_lines(bill) > _RECEIPT_LINES:
            bill = bill._replace(
                creditor=_without_street(bill.creditor), debtor=_without_street(bill.debtor)
            )
        sections = [(texts["account"], (bill.iban, *bill.creditor))]
        if bill.reference:
            sections.append((texts["reference"], (bill.reference,)))
        if bill.information and is_payment:
            sections.append((texts["information"], bill.information))
        if bill.debtor:
            sections.append((texts["debtor"], bill.debtor))
        blocks = [
            block
            for index, (heading, lines) in enumerate(sections)
            for block in self._section(heading, lines, part.sizes, is_first=index == 0)
        ]
        if not bill.debtor:
            width, height = part.blank_debtor
            blocks += self._section(texts["blank_debtor"], (), part.sizes, is_first=False)
            corners, above = self._corners(width, height), {"margin-top": "0.5mm"}
            blocks.append(self._box(width, height, corners, above, is_box=True))
        return tuple(blocks)

    def _amount(self, bill: SwissBill, part: _Part) -> Iterable[nodes.Block]:
        texts, sizes = self._texts, part.sizes
        lined = sizes._replace(line=sizes.amount_line)
        currency = self._section(texts["currency"], (bill.currency,), lined, is_first=True)
        yield self._place(part.currency, currency)
        lines = (bill.amount,) if bill.amount else ()
        yield self._place(part.amount, self._section(texts["amount"], lines, lined, is_first=True))
        if not bill.amount:
            blank = part.blank_amount
            yield self._place(blank, self._corners(blank.width, blank.height))

    def _section(
        self, heading: str, lines: tuple[str, ...], sizes: _TextSizes, *, is_first: bool
    ) -> tuple[nodes.Block, ...]:
        """Return a heading and its values, after an empty line unless it is the first."""
        above = 0.0 if is_first else sizes.line
        style = self._style(sizes.heading, min(sizes.line, 11), is_bold=True, above=above)
        title = self._paragraph((heading,), style)
        if not lines:
            return (title,)
        return title, self._paragraph(lines, self._style(sizes.value, sizes.line))

    def _procedure(self, text: str) -> nodes.Block:
        """Return an alternative procedure, its name in bold up to the colon (3.5.5)."""
        name, colon, rest = text.partition(":")
        bold = self._style(_FURTHER.heading, _FURTHER.line, is_bold=True)
        plain = self._style(_FURTHER.value, _FURTHER.line)
        runs = (
            (nodes.TextRun(name + colon, bold.text), nodes.TextRun(rest, plain.text))
            if colon
            else (nodes.TextRun(text, plain.text),)
        )
        return nodes.Paragraph(self._blocks.source, nodes.Role.P, plain, runs)

    def _code(self, value: Mapping[str, Any]) -> nodes.Block:
        return nodes.Barcode(
            "swiss-qr",
            value,
            has_quiet_zone=False,
            source=self._blocks.source,
            style=self._blocks.style({"width": f"{_CODE_SIDE}mm"}),
            alt=self._texts["code"],
            shows_text=False,
            module=None,
        )

    # --- lines ----------------------------------------------------------------------------------

    def _separation(self, separator: str) -> Iterable[nodes.Block]:
        if separator == "none":
            return
        line = "0.5pt dashed black"
        yield self._decoration(_Area(0, 0, WIDTH, 0), {"border-top": line})
        yield self._decoration(_Area(_RECEIPT_WIDTH, 0, 1, HEIGHT), {"border-left": line})
        if separator == "text":
            area = _Area(0, -_SEPARATION_HEIGHT + 0.5, WIDTH, _SEPARATION_HEIGHT - 0.5)
            style = self._style(7, 9, align="center")
            yield self._place(area, (self._paragraph((self._texts["separate"],), style),))
            return
        style = self._style(12, 12)
        symbol = self._paragraph(("✂",), style)
        yield self._decoration(_Area(5, -2.12, 6, 4.24), {}, (symbol,))
        area = _Area(_RECEIPT_WIDTH - 2.12, 92, 6, 4.24)
        yield self._decoration(area, {"rotate": "-90deg"}, (symbol,))

    def _corners(self, width: float, height: float) -> tuple[nodes.Block, ...]:
        """Return the marks at the corners of a blank field, which the payer fills in."""
        length, thickness = _MARK
        right, bottom = width - thickness, height - thickness
        areas = [
            area
            for x, inner_x in ((0.0, 0.0), (right, width - length))
            for y, inner_y in ((0.0, 0.0), (bottom, height - length))
            for area in (_Area(inner_x, y, length, thickness), _Area(x, inner_y, thickness, length))
        ]
        return tuple(self._decoration(area, {"background": "#000"}) for area in areas)

    # --- nodes ----------------------------------------------------------------------------------

    def _place(
        self, area: _Area, blocks: Iterable[nodes.Block], *, is_shrunk: bool = False
    ) -> nodes.Container:
        # Shrunk are the longest names and addresses in all fields.
        shrunk = {"overflow": "shrink", "min-font-size": _LEAST_SIZE} if is_shrunk else {}
        box = self._box(area.width, area.height, blocks, shrunk, is_box=True)
        return replace(box, position=_position(area))

    def _decoration(
        self, area: _Area, properties: Mapping[str, str], blocks: Iterable[nodes.Block] = ()
    ) -> nodes.Container:
        box = self._box(area.width, area.height, blocks, properties)
        return replace(box, role=nodes.Role.ARTIFACT, position=_position(area))

    def _box(
        self,
        width: float,
        height: float,
        blocks: Iterable[nodes.Block],
        properties: Mapping[str, str],
        *,
        is_box: bool = False,
    ) -> nodes.Container:
        sized = {"width": f"{width}mm", "height": f"{height}mm", **properties}
        return replace(self._blocks.box(sized, tuple(blocks)), is_box=is_box)

    def _paragraph(self, lines: tuple[str, ...], style: Style) -> nodes.Paragraph:
        inlines: list[nodes.Inline] = []
        for index, line in enumerate(lines):
            if index:
                inlines.append(nodes.LineBreak(style.text))
            inlines.append(nodes.TextRun(line, style.text))
        return nodes.Paragraph(self._blocks.source, nodes.Role.P, style, tuple(inlines))

    def _style(
        self,
        size: float,
        line_height: float,
        *,
        is_bold: bool = False,
        align: str = "left",
        above: float = 0.0,
    ) -> Style:
        return self._blocks.style(
            {
                "font-size": f"{size}pt",
                "line-height": f"{line_height}pt",
                "font-weight": "bold" if is_bold else "normal",
                "text-align": align,
                "margin-top": f"{above}pt",
            }
        )


def _position(area: _Area) -> nodes.Position:
    return nodes.Position(top=Length(mm(area.y)), left=Length(mm(area.x)))
