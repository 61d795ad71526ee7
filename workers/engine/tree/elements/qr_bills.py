"""The QR-bill: payment part and receipt of a Swiss invoice, as positioned boxes of 210 × 105 mm.

Measures are those of SIX, Implementation Guidelines QR-bill, version 2.3, section 3, and of its
style guide, in millimetres from the upper left corner of the bill.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from workers.engine.barcodes import (
    BILL_TEXTS,
    NOTICES,
    BillTexts,
    InvalidPaymentError,
    SwissBill,
    adapt_signs,
    read_swiss_bill,
)
from workers.engine.diagnostics import SourceLocation
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import PROPERTIES
from workers.engine.tree.build_state import BuildState, Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes, source_maker
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.figures import warn_of_signs
from workers.engine.tree.nodes import (
    Barcode,
    Block,
    Container,
    Inline,
    LineBreak,
    PageFoot,
    Paragraph,
    Position,
    Role,
    Source,
    TextRun,
    describe_loops,
)
from workers.engine.tree.styles.cascade import ComputedStyle, StyleSheet
from workers.engine.units import BLACK, ZERO, Length, mm

CODE: Final = "qr-bill-value"
WIDTH: Final = 210
HEIGHT: Final = 105
_RECEIPT_WIDTH: Final = 62
_CODE_SIDE: Final = 46
_SEPARATION_HEIGHT: Final = 5  # of the instruction above the bill
_MARK: Final = (3.0, 0.265)  # a corner mark: its length, and 0.75 pt of width

# Whatever the document states, a bill looks as SIX prescribes.
_PLAIN: Final = MappingProxyType(
    {
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
)


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
    styles: dict[tuple[ComputedStyle, str], _BillStyles] = {}

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        state = scope.state
        errors_before = state.findings.error_count
        value = payment.evaluate(scope)
        if state.findings.error_count > errors_before:
            return
        stated = lang.read(scope) or parent.inherited.lang.partition("-")[0].lower()
        language = stated if stated in BILL_TEXTS else "en"
        own = source(scope)
        name = identity.read(scope)
        if name is not None:
            state.register_id(name, identity.location)
        value = _complete(value, language, state, location)
        try:
            bill = _read(value)
        except InvalidPaymentError as wrong:
            state.findings.error(CODE, f"{wrong}{describe_loops(own.loop)}", location)
            return
        key = (parent, language)
        if key not in styles:
            if len(styles) >= _MAX_STYLES:
                styles.clear()
            styles[key] = _BillStyles(sheet, parent, language)
        drawing = _BillBuilder(styles[key], own, language)
        out.append(drawing.build(bill, value, separator.read(scope), name))

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
            CODE, f'The amount of "qr-bill" is 0, so its message is "{words}"', location
        )
        return {**adapted, "message": words}
    return adapted


def _read(value: object) -> SwissBill:
    if not isinstance(value, Mapping):
        raise InvalidPaymentError(
            "The value of `qr-bill` must be an object with iban, creditor, amount and reference"
        )
    return read_swiss_bill(value)


def _count_receipt_lines(bill: SwissBill) -> int:
    """Estimate the lines that the values need in the receipt."""
    values = (bill.iban, bill.reference, *bill.creditor, *bill.debtor)
    return sum(-(-len(value) // _RECEIPT_CHARACTERS) for value in values)


def _without_street(address: tuple[str, ...]) -> tuple[str, ...]:
    """Omit the street, as the guidelines permit in the receipt."""
    return (address[0], address[-1]) if len(address) > 2 else address


class _BillStyles:
    """The styles of all bills of an element under one parent: no property depends on data."""

    def __init__(self, sheet: StyleSheet, parent: ComputedStyle, language: str) -> None:
        self._sheet = sheet
        self._computed: dict[tuple[tuple[str, Any], ...], ComputedStyle] = {}
        self.anonymous = sheet.compute_anonymous(parent)
        self.plain = sheet.compute(parent, _parse(_PLAIN), lang=language)

    def compute(self, properties: Mapping[str, Any]) -> ComputedStyle:
        """Return the style of a part of the bill with properties of its own."""
        key = tuple(properties.items())
        computed = self._computed.get(key)
        if computed is None:
            computed = self._computed[key] = self._sheet.compute(self.plain, properties)
        return computed


class _BillBuilder:
    """Builds the boxes of one bill."""

    def __init__(self, styles: _BillStyles, source: Source, language: str) -> None:
        self._styles = styles
        self._source = source
        self._texts: BillTexts = BILL_TEXTS[language]

    def build(
        self, bill: SwissBill, value: Mapping[str, Any], separator: str, name: str | None
    ) -> PageFoot:
        above = _SEPARATION_HEIGHT if separator == "text" else 0
        parts = (
            *self._separation(separator),
            *self._receipt(bill),
            *self._payment_part(bill, value),
        )
        size = {"width": mm(WIDTH), "height": mm(HEIGHT), "margin-top": mm(above)}
        content = replace(self._box(size, parts, is_box=True), id=name)
        return PageFoot(self._source, self._styles.anonymous.style, (content,))

    # --- parts ----------------------------------------------------------------------------------

    def _receipt(self, bill: SwissBill) -> Iterable[Block]:
        texts, part = self._texts, _RECEIPT_PART
        yield self._title(texts.receipt, part)
        yield self._place(part.information, self._information(bill, part), is_shrunk=True)
        yield from self._amount(bill, part)
        style = self._style(_RECEIPT.heading, _RECEIPT.line, is_bold=True, align="right")
        yield self._place(_ACCEPTANCE, (self._paragraph((texts.acceptance_point,), style),))

    def _payment_part(self, bill: SwissBill, value: Mapping[str, Any]) -> Iterable[Block]:
        part = _PAYMENT_PART
        yield self._title(self._texts.payment_part, part)
        yield self._place(_SYMBOL, (self._code(value),))
        yield from self._amount(bill, part)
        yield self._place(part.information, self._information(bill, part), is_shrunk=True)
        if bill.procedures:
            yield self._place(_PROCEDURES, tuple(map(self._procedure, bill.procedures)))

    def _title(self, text: str, part: _Part) -> Block:
        style = self._style(_TITLE_SIZE, _TITLE_SIZE, is_bold=True)
        return self._place(part.title, (self._paragraph((text,), style),))

    def _information(self, bill: SwissBill, part: _Part) -> tuple[Block, ...]:
        texts, is_payment = self._texts, part is _PAYMENT_PART
        if not is_payment and _count_receipt_lines(bill) > _RECEIPT_LINES:
            bill = bill._replace(
                creditor=_without_street(bill.creditor), debtor=_without_street(bill.debtor)
            )
        sections = [(texts.account, (bill.iban, *bill.creditor))]
        if bill.reference:
            sections.append((texts.reference, (bill.reference,)))
        if bill.information and is_payment:
            sections.append((texts.information, bill.information))
        if bill.debtor:
            sections.append((texts.debtor, bill.debtor))
        blocks = [
            block
            for index, (heading, lines) in enumerate(sections)
            for block in self._section(heading, lines, part.sizes, is_first=index == 0)
        ]
        if not bill.debtor:
            width, height = part.blank_debtor
            blocks += self._section(texts.blank_debtor, (), part.sizes, is_first=False)
            properties = {"width": mm(width), "height": mm(height), "margin-top": mm(0.5)}
            blocks.append(self._box(properties, self._corners(width, height), is_box=True))
        return tuple(blocks)

    def _amount(self, bill: SwissBill, part: _Part) -> Iterable[Block]:
        texts, sizes = self._texts, part.sizes
        lined = sizes._replace(line=sizes.amount_line)
        currency = self._section(texts.currency, (bill.currency,), lined, is_first=True)
        yield self._place(part.currency, currency)
        lines = (bill.amount,) if bill.amount else ()
        yield self._place(part.amount, self._section(texts.amount, lines, lined, is_first=True))
        if not bill.amount:
            blank = part.blank_amount
            yield self._place(blank, self._corners(blank.width, blank.height))

    def _section(
        self, heading: str, lines: tuple[str, ...], sizes: _TextSizes, *, is_first: bool
    ) -> tuple[Block, ...]:
        """Return a heading and its values, after an empty line unless it is the first."""
        above = 0.0 if is_first else sizes.line
        style = self._style(sizes.heading, min(sizes.line, 11), is_bold=True, above=above)
        title = self._paragraph((heading,), style)
        if not lines:
            return (title,)
        return title, self._paragraph(lines, self._style(sizes.value, sizes.line))

    def _procedure(self, text: str) -> Block:
        """Return an alternative procedure, its name in bold up to the colon (3.5.5)."""
        name, colon, rest = text.partition(":")
        bold = self._style(_FURTHER.heading, _FURTHER.line, is_bold=True)
        plain = self._style(_FURTHER.value, _FURTHER.line)
        runs = (
            (TextRun(name + colon, bold.style.text), TextRun(rest, plain.style.text))
            if colon
            else (TextRun(text, plain.style.text),)
        )
        return Paragraph(self._source, Role.P, plain.style, runs)

    def _code(self, value: Mapping[str, Any]) -> Block:
        style = self._styles.compute({"width": Length(mm(_CODE_SIDE))}).style
        return Barcode(
            self._source,
            style,
            symbology="swiss-qr",
            value=value,
            alt=self._texts.code,
            shows_text=False,
            level="M",
            module=None,
            has_quiet_zone=False,
        )

    # --- lines ----------------------------------------------------------------------------------

    def _separation(self, separator: str) -> Iterable[Block]:
        if separator == "none":
            return
        line = _parse_property("border-top", "0.5pt dashed black")
        across = {"border-top": line}
        down = {"border-left": line}
        yield self._decoration(_Area(0, 0, WIDTH, 0), across)
        yield self._decoration(_Area(_RECEIPT_WIDTH, 0, 1, HEIGHT), down)
        if separator == "text":
            area = _Area(0, -_SEPARATION_HEIGHT + 0.5, WIDTH, _SEPARATION_HEIGHT - 0.5)
            style = self._style(7, 9, align="center")
            yield self._place(area, (self._paragraph((self._texts.separate,), style),))
            return
        style = self._style(12, 12)
        symbol = self._paragraph(("✂",), style)
        yield self._decoration(_Area(5, -2.12, 6, 4.24), {}, (symbol,))
        turned = {"rotate": _parse_property("rotate", "-90deg")}
        yield self._decoration(_Area(_RECEIPT_WIDTH - 2.12, 92, 6, 4.24), turned, (symbol,))

    def _corners(self, width: float, height: float) -> tuple[Block, ...]:
        """Return the marks at the corners of a blank field, which the payer fills in."""
        length, thickness = _MARK
        right, bottom = width - thickness, height - thickness
        areas = [
            area
            for x, inner_x in ((0.0, 0.0), (right, width - length))
            for y, inner_y in ((0.0, 0.0), (bottom, height - length))
            for area in (
                _Area(inner_x, y, length, thickness),
                _Area(x, inner_y, thickness, length),
            )
        ]
        return tuple(self._decoration(area, {"background": BLACK}) for area in areas)

    # --- nodes ----------------------------------------------------------------------------------

    def _place(self, area: _Area, blocks: Iterable[Block], *, is_shrunk: bool = False) -> Container:
        properties: dict[str, Any] = {"width": mm(area.width), "height": mm(area.height)}
        if is_shrunk:  # the longest names and addresses in all fields
            properties["overflow"] = _parse_property("overflow", "shrink")
            properties["min-font-size"] = _parse_property("min-font-size", _LEAST_SIZE)
        box = self._box(properties, blocks, is_box=True)
        return replace(box, position=_position(area))

    def _decoration(
        self, area: _Area, properties: Mapping[str, Any], blocks: Iterable[Block] = ()
    ) -> Container:
        sized = {"width": mm(area.width), "height": mm(area.height), **properties}
        box = self._box(sized, blocks)
        return replace(box, role=Role.ARTIFACT, position=_position(area))

    def _box(
        self, properties: Mapping[str, Any], blocks: Iterable[Block], *, is_box: bool = False
    ) -> Container:
        lengths = {
            name: Length(value) if isinstance(value, float) and name != "rotate" else value
            for name, value in properties.items()
        }
        style = self._styles.compute(lengths).style
        return Container(self._source, Role.DIV, style, tuple(blocks), is_box=is_box)

    def _paragraph(self, lines: tuple[str, ...], computed: ComputedStyle) -> Paragraph:
        inlines: list[Inline] = []
        for index, line in enumerate(lines):
            if index:
                inlines.append(LineBreak(computed.style.text))
            inlines.append(TextRun(line, computed.style.text))
        return Paragraph(self._source, Role.P, computed.style, tuple(inlines))

    def _style(
        self,
        size: float,
        line_height: float,
        *,
        is_bold: bool = False,
        align: str = "left",
        above: float = 0.0,
    ) -> ComputedStyle:
        properties = {
            "font-size": f"{size}pt",
            "line-height": f"{line_height}pt",
            "font-weight": "bold" if is_bold else "normal",
            "text-align": align,
        }
        parsed = {
            **{name: _parse_property(name, text) for name, text in properties.items()},
            "margin-top": Length(above) if above else ZERO,
        }
        return self._styles.compute(parsed)


def _position(area: _Area) -> Position:
    return Position(top=Length(mm(area.y)), left=Length(mm(area.x)))


@cache
def _parse_property(name: str, text: str) -> Any:
    return PROPERTIES[name].value_type.parse(text)


def _parse(properties: Mapping[str, str]) -> dict[str, Any]:
    return {name: _parse_property(name, text) for name, text in properties.items()}
