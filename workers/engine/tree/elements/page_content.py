"""Content evaluated for each page, in the scope it was built in: headers, footers, page boxes."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from decimal import Decimal, localcontext
from typing import Any, Final

from workers.engine.tree.build_state import Scope
from workers.engine.tree.compiler.builders import NodeBuilder, Nodes
from workers.engine.tree.expressions.environment import RUNNING, TOTALS
from workers.engine.tree.expressions.runtime import ARITHMETIC
from workers.engine.tree.nodes import Block
from workers.engine.tree.page_values import RUNNING_MEMBERS, PageValues
from workers.engine.tree.styles.cascade import ComputedStyle

# Page content is evaluated once with these if no pages are laid out, so that validation finds its errors.
VALIDATION_PAGE: Final = PageValues(number=1, count=1, index=1, total=1, name="default")


class CompiledPageContent:
    """Blocks that may use page values; static ones are built once for all pages."""

    __slots__ = ("_builder", "_made", "_parent", "_scope", "is_static")

    def __init__(
        self, builder: NodeBuilder, scope: Scope, computed: ComputedStyle, *, is_static: bool
    ) -> None:
        self._builder = builder
        self._scope = scope
        self._parent = computed
        self._made: tuple[Block, ...] | None = None
        self.is_static = is_static

    def evaluate(self, values: PageValues) -> tuple[Block, ...]:
        """Return the blocks of one page."""
        if self._made is not None:
            return self._made
        made: Nodes = []
        state = self._scope.state
        was_page_time, state.is_page_time = state.is_page_time, True
        try:
            with localcontext(ARITHMETIC):
                scope = self._scope.fork()
                scope.names["page"] = page_record(values)
                if names := state.references.features.running:
                    scope.names[RUNNING] = running_record(values, names)
                self._builder.build(scope, self._parent, made)
        finally:
            state.is_page_time = was_page_time
        state.check_links()
        blocks = tuple(made)
        self._made = blocks if self.is_static else None
        return blocks


def keep_used(scope: Scope, used: AbstractSet[str]) -> Scope:
    """Return the part of a scope that page content reads, whose expressions name `used`.

    Other lists and records are released: the header of a statement of 50,000 rows would hold them
    until the last page is drawn, a third of all memory.
    """
    names = {
        name: value
        for name, value in scope.names.items()
        if not isinstance(value, list | dict) or name in used or name == TOTALS
    }
    return scope.enter(names=names)


def page_record(values: PageValues) -> dict[str, Any]:
    """Return the record that `page` reads."""
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


def running_record(values: PageValues, names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the record that `running` reads; texts are empty before the first page that sets them."""
    none = dict.fromkeys(RUNNING_MEMBERS, "")
    found = {
        each.name: dict(zip(RUNNING_MEMBERS, each[1:], strict=True)) for each in values.running
    }
    return {name: found.get(name, none) for name in names}
