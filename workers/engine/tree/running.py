"""Headers, footers and the boxes of pages: page furniture, evaluated per page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.tree.blocks import compile_blocks
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import Context, Part
from workers.engine.tree.nodes import Container, PageTime, Position, Role, RunningBox, Source
from workers.engine.tree.pagetime import TRIAL_PAGE, PageContent, narrow
from workers.engine.tree.run import RUN
from workers.engine.tree.runtime import Scope

BuildRunning = Callable[[Scope, Look], RunningBox]
BuildBoxes = Callable[[Scope, Look], PageTime]

_OF_A_PAGE: Final = frozenset({"page", "totals"})  # names with another value on every page


def compile_running(element: Element, context: Context) -> BuildRunning:
    """Compile a header or footer. One whose own box depends on the page is a box in a plain one."""
    at_page = replace(context, is_page_time=True, used=set())
    look = at_page.look(element)
    most = at_page.attribute(element, "max-height")
    is_plain = look.is_static and not {"for", "if", "id"} & element.attributes.keys()
    if is_plain:
        part = compile_blocks(element.children, at_page, owner=element)
    else:
        part = at_page.controlled(element, _compile_as_box)
    is_static = not at_page.used & _OF_A_PAGE
    source, sheet = Source(element.place), context.sheet

    def build(scope: Scope, root: Look) -> RunningBox:
        own = look.find(scope, root) if is_plain else sheet.anonymous(root)
        content = _make_content(part, narrow(scope, at_page.used), own, is_static=is_static)
        limit = sheet.to_length(most.read(scope), own)
        return RunningBox(source, own.style, content, limit)

    return build


def compile_page_boxes(elements: Sequence[Element], context: Context) -> BuildBoxes:
    """Compile the boxes of a page; each has a position, that of the paper's corner if none is given."""
    at_page = replace(context, is_page_time=True, used=set())
    part = compile_blocks(elements, at_page, owner=elements[0])
    placed = Part(lambda *given: _place_on_paper(part, *given), part.is_static)
    is_static = not at_page.used & _OF_A_PAGE

    def build(scope: Scope, root: Look) -> PageTime:
        return _make_content(placed, narrow(scope, at_page.used), root, is_static=is_static)

    return build


def _make_content(part: Part, scope: Scope, look: Look, *, is_static: bool) -> PageContent:
    content = PageContent(part, scope, look, is_static=is_static)
    if scope[RUN].trial is not None:
        content.evaluate(TRIAL_PAGE)
    return content


def _place_on_paper(part: Part, scope: Scope, parent: Look, out: list[Any]) -> None:
    boxes: list[Container] = []
    part.build(scope, parent, boxes)
    out += [box if box.position else replace(box, position=Position()) for box in boxes]


def _compile_as_box(element: Element, context: Context) -> Part:
    look = context.look(element)
    inner = compile_blocks(element.children, context, owner=element)
    source = Source(element.place)

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        own = look.find(scope, parent)
        blocks: list[Any] = []
        inner.build(look.enter(scope), own, blocks)
        out.append(Container(source, Role.ARTIFACT, own.style, tuple(blocks), None, None))

    return Part(build, is_static=False)
