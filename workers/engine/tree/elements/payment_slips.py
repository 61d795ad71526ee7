"""The SEPA payment slip: a code with its frame and the words that say the same (decision 425)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from workers.engine.barcodes import (
    SLIP_TEXTS,
    InvalidPaymentError,
    SepaSlip,
    SlipTexts,
    read_sepa_slip,
)
from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.block_builder import BlockBuilder
from workers.engine.tree.elements.styled_blocks import StyledBlocks
from workers.engine.tree.expressions.formats import get_formats, make_currency
from workers.engine.tree.nodes import (
    Barcode,
    Block,
    Container,
    Role,
    Row,
    describe_loops,
)
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.units import mm

CODE: Final = "payment-slip-value"
_GAP: Final = mm(4)
_UTC: Final = "UTC"  # of formats, which need a time zone that no amount has

_COLUMN: Final = {"width": "34mm"}
# With its quiet zone, on white whatever the background: modules of 0.44 mm at 331 bytes.
_SYMBOL: Final = {"width": "34mm", "background": "white"}
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
        state = scope.state
        errors_before = state.findings.error_count
        value = payment.evaluate(scope)
        if state.findings.error_count > errors_before:
            return
        computed = common.element_style.compute(scope, parent)
        source, name = common.source(scope), common.read_id(scope)
        try:
            slip = _read(value)
        except InvalidPaymentError as wrong:
            state.findings.error(CODE, f"{wrong}{describe_loops(source.loop)}", location)
            return
        blocks = _SlipBuilder(StyledBlocks(sheet, computed, source)).build(slip, value)
        out.append(Container(source, Role.DIV, computed.style, blocks, None, name))

    return NodeBuilder(build, is_static=False)


def _read(value: object) -> SepaSlip:
    if not isinstance(value, Mapping):
        raise InvalidPaymentError(
            "The value of `payment-slip` must be an object with name, iban and amount"
        )
    return read_sepa_slip(value)


@dataclass(frozen=True, slots=True)
class _SlipBuilder:
    """Builds the content of one slip, in the fonts and colours of the document."""

    blocks: StyledBlocks

    @property
    def texts(self) -> SlipTexts:
        """The words in the language of the element, in English if there are none."""
        lang = self.blocks.parent.inherited.lang.partition("-")[0].lower()
        return SLIP_TEXTS.get(lang, SLIP_TEXTS["en"])

    def build(self, slip: SepaSlip, value: Mapping[str, Any]) -> tuple[Block, ...]:
        texts, make = self.texts, self.blocks
        code = make.box(_COLUMN, (self._code(value), make.text(texts.scan, _SCAN)))
        columns = (code, make.box({}, self._words(slip)))
        row = Row(make.source, make.style({}), columns, _GAP, "start")
        return make.text(texts.title, _TITLE), row

    def _words(self, slip: SepaSlip) -> tuple[Block, ...]:
        texts = self.texts
        accounts = [("IBAN", slip.iban), ("BIC", slip.bic)]
        further = [(texts.reference, slip.reference), (texts.remittance, slip.remittance)]
        return (
            *self._field(texts.beneficiary, slip.name),
            *(block for each in accounts for block in self._field(*each)),
            *self._amount(slip.amount),
            *(block for each in further for block in self._field(*each)),
        )

    def _field(self, label: str, value: str) -> tuple[Block, ...]:
        if not value:
            return ()
        return self.blocks.text(label, _LABEL), self.blocks.text(value, _VALUE)

    def _amount(self, amount: Decimal | None) -> tuple[Block, ...]:
        texts = self.texts
        if amount is None:
            return self.blocks.text(f"{texts.amount} (EUR)", _LABEL), self.blocks.box(_BLANK, ())
        formats = get_formats(self.blocks.parent.inherited.lang, "EUR", _UTC)
        shown = str(make_currency(formats)(amount))
        return self.blocks.text(texts.amount, _LABEL), self.blocks.text(shown, _AMOUNT)

    def _code(self, value: Mapping[str, Any]) -> Block:
        return Barcode(
            "epc-qr",
            value,
            source=self.blocks.source,
            style=self.blocks.style(_SYMBOL),
            alt=self.texts.code,
            shows_text=False,
            module=None,
        )
