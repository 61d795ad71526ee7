"""Structure trees of short documents that a template keeps for its next ones.

Invoices with as many lines have the same tree but for texts, which are not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from workers.engine.layout.structure import LogicalStructure
from workers.engine.paint.structure_objects import ElementAnnotation, MarkedContent
from workers.engine.pdf_writer import AppendedObjects
from workers.engine.tree.memo import Kind

TREES: Final[Kind[tuple[Any, ...], AppendedObjects]] = Kind(
    size_of=lambda tree: sum(map(len, tree.bodies))
)


def write_kept_tree(
    structure: LogicalStructure,
    contents: Sequence[MarkedContent],
    annotations: Sequence[ElementAnnotation],
    numbers: Sequence[int],
    write: Callable[[], AppendedObjects],
) -> AppendedObjects:
    """Return the kept objects of a tree, or else those that `write` returns.

    They depend on nothing but the elements, their content, and `numbers`, which are those of all
    objects outside the tree and of the first in it.
    """
    key = (
        *numbers,
        tuple(structure.roles),
        tuple(structure.parents),
        *[tuple(entries.items()) for entries in structure.entries],
        *[
            (each.page, each.stream is None, tuple(each.owners), tuple(each.fields))
            for each in contents
        ],
        *[(each.element, each.page, each.is_link) for each in annotations],
    )
    return structure.memo.remember(TREES, key, write)
