"""Content that is evaluated once per page: headers and footers, over the scope they were built in."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from decimal import Decimal, localcontext
from typing import Any, Final

from workers.engine.tree.cascade import Look
from workers.engine.tree.compiler import Part
from workers.engine.tree.grammar import TOTALS
from workers.engine.tree.nodes import Block, PageValues
from workers.engine.tree.run import RUN
from workers.engine.tree.runtime import ARITHMETIC, Scope

# Page content is tried once over these where no pages are made, so that validation finds its errors.
TRIAL_PAGE: Final = PageValues(number=1, count=1, index=1, total=1, name="default")


class PageContent:
    """Blocks that may use page values; static ones are made once for all pages."""

    __slots__ = ("_look", "_made", "_part", "_scope", "is_static")

    def __init__(self, part: Part, scope: Scope, look: Look, *, is_static: bool) -> None:
        self._part = part
        self._scope = scope
        self._look = look
        self._made: tuple[Block, ...] | None = None
        self.is_static = is_static

    def evaluate(self, values: PageValues) -> tuple[Block, ...]:
        """Give the blocks for one page."""
        if self._made is not None:
            return self._made
        made: list[Any] = []
        run = self._scope[RUN]
        was_page_time, run.is_page_time = run.is_page_time, True
        try:
            with localcontext(ARITHMETIC):
                self._part.build({**self._scope, "page": page_record(values)}, self._look, made)
        finally:
            run.is_page_time = was_page_time
        run.check_links()
        blocks = tuple(made)
        self._made = blocks if self.is_static else None
        return blocks


def narrow(scope: Scope, used: AbstractSet[str]) -> Scope:
    """Give the part of a scope that page content reads, whose expressions name `used`.

    Lists and records it does not name are let go: the header of a statement of 50,000 rows would
    hold them all until the last page is drawn, a third of all memory.
    """
    return {
        name: value
        for name, value in scope.items()
        if not isinstance(value, list | dict) or name in used or name == TOTALS or name[0] == "#"
    }


def page_record(values: PageValues) -> dict[str, Any]:
    """Give what `page.*` reads (language.md 1.4)."""
    return {
        "number": Decimal(values.number),
        "count": Decimal(values.count),
        "index": Decimal(values.index),
        "total": Decimal(values.total),
        "first": values.is_first,
        "last": values.is_last,
        "odd": values.number % 2 == 1,
        "even": values.number % 2 == 0,
        "blank": values.is_blank,
        "name": values.name,
    }
