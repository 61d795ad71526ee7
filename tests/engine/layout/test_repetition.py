"""Blocks that passes and trials lay out again: the same fragment, where it would be equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.engine.layout.builders import (
    body,
    context,
    group,
    p,
    styled,
    table,
    template,
    tr,
    ul,
)
from workers.engine.layout.context import Fragment, LayoutContext, Region
from workers.engine.layout.references import PageReferences, ShownText
from workers.engine.tree.nodes import Block, ParagraphExtras, Reference
from workers.engine.tree.references.cross_references import CrossReferences

SPACE = Region(100.0, 60.0)


@pytest.fixture
def passes() -> LayoutContext:
    """Return the context of a document with references."""
    made = context()
    made.references = PageReferences(CrossReferences({}, (), {"there": ("here",)}, {}, {}))
    return made


def referring() -> Block:
    reference = Reference("there", "text", styled().text, p("a").source)
    return replace(p("see ", reference), extra=ParagraphExtras(has_references=True))


def laid_out_twice(
    passes: LayoutContext, block: Block, second: Region = SPACE
) -> tuple[Fragment, Fragment]:
    first, again = (passes.lay_out(block, region) for region in (SPACE, second))
    assert first is not None
    assert again is not None
    return first, again


@pytest.mark.parametrize(
    "block",
    [
        p("many words " * 4),
        ul("one", "two"),
        table(body(tr(template(2), "a", "b")), heads=[group(tr(template(2), "c", "d"))]),
    ],
)
def test_a_block_that_fits_whole_again_is_the_same(passes, block):
    first, again = laid_out_twice(passes, block, Region(100.0, 50.0, is_top=False))
    assert first is again


@pytest.mark.parametrize("second", [Region(90.0, 60.0), Region(100.0, 60.0, bottom=60.0)])
def test_a_block_in_another_space_is_laid_out_again(passes, second):
    first, again = laid_out_twice(passes, p("many words " * 4), second)
    assert first is not again


def test_a_block_with_less_room_than_it_takes_is_broken(passes):
    first, again = laid_out_twice(passes, p("many words " * 8), Region(100.0, 25.0))
    assert first.resume is None
    assert again.resume is not None


@pytest.mark.parametrize(
    "block",
    [
        referring(),
        table(body(tr(template(2), "a", (referring(),)))),
    ],
)
def test_a_block_that_may_differ_in_the_next_pass_is_laid_out_again(passes, block):
    first, again = laid_out_twice(passes, block)
    assert first is not again


def test_documents_of_one_pass_keep_no_fragments():
    first, again = laid_out_twice(context(), p("a"))
    assert first is not again


def shown_after(passes: LayoutContext, block: Block) -> Sequence[ShownText]:
    references = passes.references
    assert references is not None
    references.begin_area()
    passes.lay_out(block, SPACE)
    return references.end_area()


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
