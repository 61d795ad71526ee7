"""Blocks that an element builds itself, in the fonts and colours of its document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from workers.engine.syntax.vocabulary import PROPERTIES
from workers.engine.tree.nodes import Block, Container, Paragraph, Role, Source, TextRun
from workers.engine.tree.styles.cascade import ComputedStyle, StyleSheet
from workers.engine.tree.styles.computed import Style
from workers.engine.tree.styles.user_agent import expand_shorthands


@dataclass(frozen=True, slots=True)
class StyledBlocks:
    """Makes blocks of one element; `properties` are as an author would write them.

    Styles are computed once, also for those that are replaced by another source.
    """

    sheet: StyleSheet
    parent: ComputedStyle
    source: Source
    _known: dict[tuple[tuple[str, str], ...], ComputedStyle] = field(default_factory=dict)

    def text(self, text: str, properties: Mapping[str, str]) -> Paragraph:
        """Return a paragraph."""
        computed = self._compute(properties)
        style = computed.for_text(text) if computed.inherited.is_auto else computed.style
        return Paragraph(self.source, Role.P, style, (TextRun(text, style.text),))

    def box(self, properties: Mapping[str, str], blocks: tuple[Block, ...]) -> Container:
        """Return a box."""
        return Container(self.source, Role.DIV, self.style(properties), blocks)

    def style(self, properties: Mapping[str, str]) -> Style:
        """Return the style of a block inside the element."""
        return self._compute(properties).style

    def _compute(self, properties: Mapping[str, str]) -> ComputedStyle:
        key = tuple(properties.items())
        computed = self._known.get(key)
        if computed is None:
            values = parse_properties(properties)
            computed = self._known[key] = self.sheet.compute(self.parent, values)
        return computed


def parse_properties(properties: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of properties that are as an author would write them."""
    parsed = {name: _parse(name, text) for name, text in properties.items()}
    return expand_shorthands(parsed)


@cache
def _parse(name: str, text: str) -> Any:
    return PROPERTIES[name].value_type.parse(text)
