"""Calls of notes in running text."""

from __future__ import annotations

from tests.engine.tree.documents import blocks, problems
from workers.engine.tree.nodes import Block, Paragraph, Reference, child_blocks


def test_each_call_of_a_note_that_is_numbered_on_its_page_has_a_source():
    calls = [
        inline
        for block in walk(
            blocks(
                "<markdown>a[^1] b[^1]\n\n[^1]: one\n</markdown>",
                head='<style element="footnote" count-per="page"/>',
            )
        )
        if isinstance(block, Paragraph)
        for inline in block.inlines
        if isinstance(inline, Reference)
    ]
    assert len(calls) == 2
    assert all(call.source.location.span.line_start for call in calls)


def walk(found: tuple[Block, ...]) -> list[Block]:
    """Return blocks with all that are inside them."""
    return [inner for block in found for inner in (block, *walk(child_blocks(block)))]


def test_a_reference_shows_the_text_of_a_box_inside_a_note():
    note = '<footnote><div id="n"><p>Text of the note</p></div></footnote>'
    assert problems(f'<p>a{note}, see <ref to="n" show="text"/></p>') == []


def test_a_mark_between_blocks_can_have_an_id():
    assert problems('<mark id="m" term="rent"/><p><a href="#m">rent</a></p><index/>') == []
