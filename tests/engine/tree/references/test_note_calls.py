"""Calls of notes in running text."""

from __future__ import annotations

from tests.engine.tree.documents import blocks
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
