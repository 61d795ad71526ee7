"""The marked content of a tagged document's pages and links (ISO 32000-1, 14.7.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workers.engine.layout.display import LinkArea
from workers.engine.layout.structure import LogicalStructure
from workers.engine.layout.table_headers import add_headers
from workers.engine.paint.structure_objects import (
    ElementAnnotation,
    MarkedContent,
    StructureWriter,
)
from workers.engine.pdf_writer import AppendedObjects


class StructureTree:
    """The marked content of a document's pages and its structure tree."""

    def __init__(self, structure: LogicalStructure) -> None:
        self.structure = structure
        self._contents: list[MarkedContent] = []
        self._annotations: list[ElementAnnotation] = []

    def begin_content(self, page: int) -> MarkedContent:
        """Start a content stream of a page, counted from 1."""
        content = MarkedContent(len(self._contents), page)
        self._contents.append(content)
        return content

    def describe_link(self, link: LinkArea) -> str:
        """Return the text of a link, or its target if it has none."""
        texts = self.structure.texts.get(link.owner) if isinstance(link.owner, int) else None
        return " ".join(" ".join(texts or ()).split()) or link.target

    def add_link(self, link: LinkArea, page: int, number: int) -> None:
        """Add a link by its number in the file; one in a header or footer gets an element of its
        own.
        """
        element = link.owner if isinstance(link.owner, int) else self.structure.add_lone_link()
        self._annotations.append(ElementAnnotation(element, page, number))

    def add_field(self, element: int, page: int, annotation: Any) -> None:
        """Add the widget annotation of a form field."""
        self._annotations.append(ElementAnnotation(element, page, annotation))

    def find_objects(self) -> list[Any]:
        """Return the objects whose numbers `write` needs beside those of the pages."""
        streams = [content.stream for content in self._contents if content.stream is not None]
        widgets = [each.annotation for each in self._annotations if not each.is_link]
        return [*streams, *widgets]

    def write(
        self, first: int, root: int, numbers: Sequence[int], *, first_link: int
    ) -> AppendedObjects:
        """Write the tree as objects whose numbers start at `first`.

        `root` is the number of the tree's root, `numbers` are those of the pages and of `find_objects`,
        and links are numbered from `first_link`. Their keys in the parent tree are among the additions.
        """
        add_headers(self.structure)
        self.structure.complete_tables()
        widgets = sum(not each.is_link for each in self._annotations)
        known, others = numbers[: len(numbers) - widgets], iter(numbers[len(numbers) - widgets :])
        annotations = [
            first_link + each.annotation if each.is_link else next(others)
            for each in self._annotations
        ]
        writer = StructureWriter(
            self.structure, self._contents, self._annotations, [*known, *annotations]
        )
        return writer.write(first, root)
