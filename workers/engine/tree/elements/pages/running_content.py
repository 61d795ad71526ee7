"""Running content: headers, footers and the boxes of pages, evaluated for each page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import compile_controlled
from workers.engine.tree.document import PageContent, RunningBox
from workers.engine.tree.elements.page_content import (
    VALIDATION_PAGE,
    CompiledPageContent,
    keep_used,
)
from workers.engine.tree.expressions.environment import RUNNING, TOTALS
from workers.engine.tree.nodes import Container, Position, Role, Source
from workers.engine.tree.styles.cascade import ComputedStyle

BuildRunning = Callable[[Scope, ComputedStyle], RunningBox]
BuildBoxes = Callable[[Scope, ComputedStyle], PageContent]

_OF_A_PAGE: Final = frozenset({"page", TOTALS, RUNNING})  # names with another value on every page


def compile_running(element: Element, context: CompileContext) -> BuildRunning:
    """Compile a header or footer.

    If its own box depends on the page, it is put into a plain one.
    """
    at_page = replace(context, is_page_time=True, knows_running_values=True, used=set())
    element_style = at_page.compile_style(element)
    most = at_page.compile_attribute(element, "max-height")
    is_plain = element_style.is_static and not {"for", "if", "id"} & element.attributes.keys()
    if is_plain:
        builder = at_page.compile_blocks(element.children, owner=element)
    else:
        builder = compile_controlled(element, at_page, _compile_as_box)
    is_static = not at_page.used & _OF_A_PAGE
    source, sheet = Source(element.location), context.sheet

    def build(scope: Scope, root: ComputedStyle) -> RunningBox:
        own = element_style.compute(scope, root) if is_plain else sheet.compute_anonymous(root)
        content = _make_content(builder, keep_used(scope, at_page.used), own, is_static=is_static)
        limit = sheet.to_length(most.read(scope), own)
        return RunningBox(source, own.style, content, limit)

    return build


def compile_page_boxes(elements: Sequence[Element], context: CompileContext) -> BuildBoxes:
    """Compile the boxes of a page; one without offsets is placed at the paper's corner."""
    at_page = replace(context, is_page_time=True, knows_running_values=True, used=set())
    builder = at_page.compile_blocks(elements, owner=elements[0])
    placed = NodeBuilder(lambda *given: _place_on_paper(builder, *given), builder.is_static)
    is_static = not at_page.used & _OF_A_PAGE

    def build(scope: Scope, root: ComputedStyle) -> PageContent:
        return _make_content(placed, keep_used(scope, at_page.used), root, is_static=is_static)

    return build


def _make_content(
    builder: NodeBuilder, scope: Scope, computed: ComputedStyle, *, is_static: bool
) -> CompiledPageContent:
    content = CompiledPageContent(builder, scope, computed, is_static=is_static)
    if scope.state.validator is not None:
        content.evaluate(VALIDATION_PAGE)
    return content


def _place_on_paper(builder: NodeBuilder, scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
    boxes: list[Container] = []
    builder.build(scope, parent, boxes)
    out += [box if box.position else replace(box, position=Position()) for box in boxes]


def _compile_as_box(element: Element, context: CompileContext) -> NodeBuilder:
    element_style = context.compile_style(element)
    inner = context.compile_blocks(element.children, owner=element)
    source = Source(element.location)

    def build(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        own = element_style.compute(scope, parent)
        blocks: Nodes = []
        inner.build(element_style.enter(scope), own, blocks)
        out.append(Container(source, Role.ARTIFACT, own.style, tuple(blocks), None, None))

    return NodeBuilder(build, is_static=False)
