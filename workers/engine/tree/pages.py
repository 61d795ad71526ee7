"""Page masters: paper, margins, and the header and footer that are evaluated per page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.values import LengthValue, Paper
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.blocks import compile_blocks
from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import Context, Part, find_color
from workers.engine.tree.figures import read_picture
from workers.engine.tree.nodes import Container, On, PageMaster, Role, RunningBox, Source
from workers.engine.tree.pagetime import TRIAL_PAGE, PageContent
from workers.engine.tree.run import RUN
from workers.engine.tree.runtime import Scope
from workers.engine.units import Sides

BuildPage = Callable[[Scope, Look], PageMaster]
BuildRunning = Callable[[Scope, Look], RunningBox]
_SIDES: Final = ("top", "right", "bottom", "left")


def compile_page(element: Element | None, context: Context) -> BuildPage:
    """Compile a page; without one, paper and margins are the defaults."""
    if element is None:
        return _default_page
    size, margin, background, image = (
        context.attribute(element, name)
        for name in ("size", "margin", "background", "background-image")
    )
    sides = [context.attribute(element, f"margin-{side}") for side in _SIDES]
    header, footer = (_compile_running(element.find(tag), context) for tag in ("header", "footer"))
    source = Source(element.place)
    sheet = context.sheet

    def build(scope: Scope, root: Look) -> PageMaster:
        paper: Paper = size.read(scope)
        margins: Sides[LengthValue] = margin.read(scope)
        given = [own.read(scope) for own in sides]
        return PageMaster(
            source,
            "default",
            On.ALL,
            paper.width,
            paper.height,
            Sides(
                *(
                    sheet.to_points(common if own is None else own, root)
                    for common, own in zip(margins, given, strict=True)
                )
            ),
            find_color(sheet, background.read(scope), scope, element.place),
            read_picture(image.read(scope)),
            header(scope, root) if header else None,
            footer(scope, root) if footer else None,
            None,
        )

    return build


def _default_page(_scope: Scope, _root: Look) -> PageMaster:
    attributes = ELEMENTS["page"].attributes
    paper: Paper = attributes["size"].kind.parse(attributes["size"].default or "")
    margins = attributes["margin"].kind.parse(attributes["margin"].default or "")
    return PageMaster(
        None,
        "default",
        On.ALL,
        paper.width,
        paper.height,
        Sides(*(margin.value for margin in margins)),
        None,
        None,
        None,
        None,
        None,
    )


def _compile_running(element: Element | None, context: Context) -> BuildRunning | None:
    """Compile a header or footer. One whose own box depends on the page is a box in a plain one."""
    if element is None:
        return None
    at_page = replace(context, is_page_time=True, used=set())
    look = at_page.look(element)
    most = at_page.attribute(element, "max-height")
    is_plain = look.is_static and not {"for", "if", "id"} & element.attributes.keys()
    if is_plain:
        part = compile_blocks(element.children, at_page, owner=element)
    else:
        part = at_page.controlled(element, _compile_as_box)
    is_static = not at_page.used & {"page", "totals"}
    source, sheet = Source(element.place), context.sheet

    def build(scope: Scope, root: Look) -> RunningBox:
        own = look.find(scope, root) if is_plain else sheet.anonymous(root)
        content = PageContent(part, scope, own, is_static=is_static)
        if scope[RUN].is_trial:
            content.evaluate(TRIAL_PAGE)
        limit = sheet.to_length(most.read(scope), own)
        return RunningBox(source, own.style, content, limit)

    return build


def _compile_as_box(element: Element, context: Context) -> Part:
    look = context.look(element)
    identity = context.attribute(element, "id")
    inner = compile_blocks(element.children, context, owner=element)
    source = Source(element.place)

    def build(scope: Scope, parent: Look, out: list[Any]) -> None:
        own = look.find(scope, parent)
        blocks: list[Any] = []
        inner.build(look.enter(scope), own, blocks)
        out.append(
            Container(source, Role.ARTIFACT, own.style, tuple(blocks), None, identity.read(scope))
        )

    return Part(build, is_static=False)
