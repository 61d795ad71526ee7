"""The address of a letter, in the window of its envelope."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax.address_windows import ADDRESS_WINDOWS
from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.elements.block_builder import BlockBuilder
from workers.engine.tree.elements.styled_blocks import StyledBlocks
from workers.engine.tree.nodes import (
    Block,
    Container,
    Envelope,
    Position,
    Role,
    describe_loops,
)
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.units import Length, mm

# A foreign address keeps its order in a letter that is written from right to left.
_LINE: Final = {"margin-bottom": "0", "direction": "auto"}
_REMARK: Final = {**_LINE, "font-size": "8pt", "line-height": "1.2"}
_SENDER: Final = {**_REMARK, "font-size": "6.5pt"}
_SHRINK: Final = {"overflow": "shrink", "min-font-size": "4pt"}


def compile_address(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile an `address`: a box where its standard has the window, with the lines of the address."""
    location = element.location
    common = BlockBuilder(element, context, "standard", "sender", "fold-marks")
    value, remarks = (
        context.compile_expression(element.attributes.get(name, "none"), location)
        for name in ("value", "remarks")
    )

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        standard, sender, has_marks = common.read(scope)
        if standard is None:  # reported before
            return
        window = ADDRESS_WINDOWS[standard]
        lines, above = _read_lines(value.evaluate(scope)), _read_lines(remarks.evaluate(scope))
        source, computed = common.source(scope), common.compute(scope, parent)
        if len(lines) > window.lines:
            scope.state.findings.warn(
                "address-lines",
                f"The address has {len(lines)} lines, {standard} allows {window.lines}: join some of "
                f"them{describe_loops(source.loop)}",
                location,
            )
        make = StyledBlocks(context.sheet, computed, source)
        inside = {"padding-left": f"{window.inset}mm", **_SHRINK}
        lower = {"height": f"{window.height - window.remarks}mm", **inside}
        blocks: tuple[Block, ...] = (
            make.box(lower, tuple(make.text(line, _LINE) for line in lines)),
        )
        if window.remarks:
            notes: tuple[Block, ...] = (make.text(sender, _SENDER),) if sender else ()
            notes += tuple(make.text(text, _REMARK) for text in above)
            upper = {"height": f"{window.remarks}mm", "padding-bottom": "0.8mm", **inside}
            blocks = (make.box(upper, (make.box({"margin-top": "auto"}, notes),)), *blocks)
        place = Position(Length(mm(window.top)), None, None, Length(mm(window.left)))
        envelope = Envelope(standard, window, has_marks)
        style = make.style({"width": f"{window.width}mm"})
        name = common.read_id(scope)
        out.append(
            Container(source, Role.DIV, style, blocks, place, name, is_box=True, envelope=envelope)
        )

    return NodeBuilder(build, is_static=False)


def _read_lines(value: object) -> list[str]:
    """Return the lines of a text, or of lists in each other, without blank ones as postal rules ask."""
    if isinstance(value, list | tuple):
        return [line for entry in value for line in _read_lines(entry)]
    text = "" if value is None else str(value)
    return [line.strip() for line in text.splitlines() if line.strip()]
