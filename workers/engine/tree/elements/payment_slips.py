"""Payment slips: a code with its frame and the words that say the same (decision 425).

The SEPA payment slip is a block. The QR-bill is the payment part and receipt of a Swiss invoice, as
positioned boxes of 210 × 105 mm at the foot of a page. What they show is written in `composed`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from workers.engine.barcodes import (
    BILL_TEXTS,
    NOTICES,
    SLIP_TEXTS,
    InvalidPaymentError,
    SwissBill,
    adapt_signs,
    read_sepa_slip,
    read_swiss_bill,
)
from workers.engine.diagnostics import SourceLocation
from workers.engine.syntax.nodes import Element
from workers.engine.tree import nodes
from workers.engine.tree.build_state import BuildState, Scope
from workers.engine.tree.compiler.builders import NodeBuilder
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.block_builder import BlockBuilder, Frame
from workers.engine.tree.elements.composed import compile_content
from workers.engine.tree.elements.figures import warn_of_signs
from workers.engine.tree.styles.cascade import ComputedStyle

T = TypeVar("T")

BILL_VALUE: Final = "qr-bill-value"
# Values of 8 pt in the receipt: lines beside three headings and the space between them, and characters.
_RECEIPT_LINES: Final = 12
_RECEIPT_CHARACTERS: Final = 32
_ZERO: Final = re.compile(r" *[+-]?0+(\.0+)?(E[+-]?[0-9]+)? *")
_SCISSORS: Final = "✂"


def compile_payment_slip(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a `payment-slip`."""
    location = element.location
    payment = context.compile_expression(element.attributes.get("value", "none"), location)
    content = compile_content(element, context, "slip", "texts", "payment")

    def make(frame: Frame) -> nodes.Container | None:
        value, is_sound = payment.try_evaluate(frame.scope)
        if not is_sound:
            return None
        name = frame.read_id()
        slip = _read(value, "name, iban and amount", read_sepa_slip, frame.scope, location)
        if slip is None:
            return None
        texts = SLIP_TEXTS.get(_language_of(frame.computed), SLIP_TEXTS["en"])
        shown = {"slip": slip._asdict(), "texts": texts, "payment": value}
        return frame.box(content(frame.enter(), frame.computed, shown), name)

    return BlockBuilder(element, context, make=make)


def _language_of(computed: ComputedStyle) -> str:
    return computed.style.text.lang.partition("-")[0].lower()


def _read(
    value: object,
    members: str,
    read: Callable[[Mapping[str, object]], T],
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


def compile_qr_bill(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a `qr-bill`."""
    location = element.location
    payment = context.compile_expression(element.attributes.get("value", "none"), location)
    names = ("receipt", "payment", "value", "texts", "language", "separator")
    content = compile_content(element, context, *names)

    def make(frame: Frame) -> nodes.PageFoot | None:
        scope, state = frame.scope, frame.state
        value, is_sound = payment.try_evaluate(scope)
        if not is_sound:
            return None
        name, (separator,) = frame.read_id(), frame.read()
        language = _language_of(frame.computed)
        if language not in BILL_TEXTS:
            language = "en"
        value = _complete(value, language, state, location)
        members = "iban, creditor, amount and reference"
        bill = _read(value, members, read_swiss_bill, scope, location)
        if bill is None:
            return None
        shown = (
            *(_present(_shorten(bill)), _present(bill), value),
            *(BILL_TEXTS[language], language, separator),
        )
        (drawn,) = content(scope, frame.computed, dict(zip(names, shown, strict=True)))
        box = _mark_decoration(drawn)
        assert isinstance(box, nodes.Container)
        return nodes.PageFoot(frame.source, frame.anonymous().style, (replace(box, id=name),))

    return BlockBuilder(element, context, "separator", make=make)


def _complete(value: object, language: str, state: BuildState, location: SourceLocation) -> object:
    """Return a bill in accepted signs, and with the words that an amount of 0 needs."""
    if not isinstance(value, Mapping):
        return value
    warn_of_signs("qr-bill", value, state, location)
    adapted, _ = adapt_signs(value)
    if _ZERO.fullmatch(str(adapted.get("amount"))) and not adapted.get("message"):
        words = NOTICES[language]
        state.findings.warn(
            BILL_VALUE, f'The amount of "qr-bill" is 0, so its message is "{words}"', location
        )
        return {**adapted, "message": words}
    return adapted


def _shorten(bill: SwissBill) -> SwissBill:
    """Return a bill as the receipt shows it: without streets, as the guidelines permit, if it is too long."""
    values = (bill.iban, bill.reference, *bill.creditor, *bill.debtor)
    if sum(-(-len(value) // _RECEIPT_CHARACTERS) for value in values) <= _RECEIPT_LINES:
        return bill
    creditor, debtor = (
        (lines[0], lines[-1]) if len(lines) > 2 else lines for lines in (bill.creditor, bill.debtor)
    )
    return bill._replace(creditor=creditor, debtor=debtor)


def _present(bill: SwissBill) -> dict[str, object]:
    """Return the values of a bill as a record of expressions; procedures are in two parts at the colon."""
    procedures = []
    for text in bill.procedures:
        name, colon, rest = text.partition(":")
        procedures.append({"name": name + colon if colon else "", "rest": rest or text})
    values = bill._replace(procedures=())._asdict().items()
    record = {name: list(value) if isinstance(value, tuple) else value for name, value in values}
    return {**record, "procedures": procedures}


def _mark_decoration(block: nodes.Block) -> nodes.Block:
    """Return a block whose positioned boxes without words, such as lines and marks, are decoration."""
    if not isinstance(block, nodes.Container):
        return block
    if block.position is not None and all(map(_is_symbol, block.children)):
        return replace(block, role=nodes.Role.ARTIFACT)
    return replace(block, children=tuple(map(_mark_decoration, block.children)))


def _is_symbol(block: nodes.Block) -> bool:
    return isinstance(block, nodes.Paragraph) and any(
        isinstance(inline, nodes.TextRun) and inline.text == _SCISSORS for inline in block.inlines
    )
