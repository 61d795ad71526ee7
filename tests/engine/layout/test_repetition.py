"""Texts that passes lay out again: their lines are taken where they show the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.engine.layout.builders import body, context, p, styled, table, template, tr
from workers.engine.layout.context import LayoutContext, Region
from workers.engine.layout.references import PageReferences, ShownText
from workers.engine.tree.nodes import Block, ParagraphExtras, Reference
from workers.engine.tree.references.resolver import CrossReferences

SPACE = Region(100.0, 60.0)


@pytest.fixture
def passes() -> LayoutContext:
    """Return the context of a document with references."""
    references = PageReferences(CrossReferences({}, (), {"there": ("here",)}, {}, {}))
    return context()._replace(references=references)


def referring() -> Block:
    reference = Reference("there", "text", styled().text, p("a").source)
    return replace(p("see ", reference), extra=ParagraphExtras(has_references=True))


def shown_after(passes: LayoutContext, block: Block) -> Sequence[ShownText]:
    references = passes.references
    assert references is not None
    references.shown = []
    passes.lay_out(block, SPACE)
    return references.shown


@pytest.fixture
def text_of_there(passes: LayoutContext) -> dict[str, tuple[str]]:
    """Return the texts of the targets of references, to be changed."""
    texts = {"there": ("here",)}
    assert passes.references is not None
    passes.references.cross_references = CrossReferences({}, (), texts, {}, {})
    return texts


@pytest.mark.parametrize(
    ("text", "still"),
    [("here", True), ("that", True), ("a row of words that needs lines of its own", False)],
)
def test_an_area_is_filled_again_once_its_references_take_other_room(
    passes, text_of_there, text, still
):
    (shown,) = shown_after(passes, referring())
    text_of_there["there"] = (text,)
    assert shown.still_shows(passes) is still


def test_lines_that_show_another_text_take_the_place_of_those_before(passes, text_of_there):
    fragment = passes.lay_out(referring(), SPACE)
    (shown,) = shown_after(passes, referring())
    (own,) = shown_after(passes, fragment.node)
    text_of_there["there"] = ("that",)
    assert all(text.still_shows(passes) for text in (shown, own))
    assert [part.text for part in fragment.lines.lines[0].fragments] == ["see ", "that"]


def test_cut_lines_are_laid_out_again(passes, text_of_there):
    fragment = passes.lay_out(referring(), SPACE)
    (shown,) = shown_after(passes, fragment.node)
    fragment.truncate(20.0, is_cut=True)
    text_of_there["there"] = ("that",)
    assert not shown.still_shows(passes)


def test_columns_as_wide_as_a_reference_fill_every_area_again(passes):
    references = passes.references
    assert references.keeps_areas
    passes.lay_out(table(body(tr(template(1), (referring(),)))), SPACE)
    assert not references.keeps_areas
