"""Node builders: compiled content, joined in order.

Headers, footers and page boxes are built for each page, in the scope of their document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from decimal import Decimal, localcontext
from typing import Any, Final, TypeVar

from workers.engine.diagnostics import SourceLocation
from workers.engine.tree.build_state import Scope
from workers.engine.tree.expressions.environment import RUNNING, SHEET, TOTALS
from workers.engine.tree.expressions.runtime import ARITHMETIC
from workers.engine.tree.nodes import Repeated, Source
from workers.engine.tree.page_values import RUNNING_MEMBERS, PageValues
from workers.engine.tree.references.resolver import ReferenceFeatures
from workers.engine.tree.styles.cascade import ComputedStyle

V = TypeVar("V")

Nodes = list[Any]  # blocks, list items, or rows of a table
# Builders append to `Nodes`, or those of inline content to the `InlineCollector` of their paragraph.
NodeBuilder = Callable[[Scope, ComputedStyle, Any], None]


def sequence(builders: Iterable[NodeBuilder]) -> NodeBuilder:
    """Join builders to one that runs them in order."""
    kept = tuple(builders)
    return kept[0] if len(kept) == 1 else _Sequence(kept)


class _Sequence:
    """Runs builders in order. A class with slots, as a document may have one for each element."""

    __slots__ = ("builds",)

    def __init__(self, builds: tuple[NodeBuilder, ...]) -> None:
        self.builds = builds

    def __call__(self, scope: Scope, parent: ComputedStyle, out: Any) -> None:
        for build in self.builds:
            build(scope, parent, out)


def collect(build: NodeBuilder, scope: Scope, parent: ComputedStyle) -> tuple[Any, ...]:
    """Return what a builder builds."""
    made: Nodes = []
    build(scope, parent, made)
    return tuple(made)


EMPTY: Final[NodeBuilder] = _Sequence(())  # of what is not built


def source_maker(location: SourceLocation) -> Callable[[Scope], Source]:
    """Return a function that makes the sources of an element: one object outside of loops."""
    plain = Source(location)

    def make(scope: Scope) -> Source:
        loop = scope.loop
        return Source(location, loop) if loop else plain

    return make


# Page content is evaluated once with these if no pages are laid out, so that validation finds its errors.
VALIDATION_PAGE: Final = PageValues(number=1, count=1, index=1, total=1, name="default")


def repeat(
    build: NodeBuilder,
    scope: Scope,
    parent: ComputedStyle,
    name_values: Callable[[V], dict[str, object]],
    *,
    is_static: bool,
    is_once: bool = False,
) -> Repeated[V, Any]:
    """Return content with the names of the page or fragment it is on.

    Nothing in it is counted or linked to, unless it is printed once before it is repeated.
    """
    state = scope.state

    def make(values: V) -> tuple[Any, ...]:
        inner = scope.fork()
        inner.names |= name_values(values)
        was_page_time = state.is_page_time
        state.is_page_time = was_page_time or not is_once
        try:
            with localcontext(ARITHMETIC):
                made = collect(build, inner, parent)
        finally:
            state.is_page_time = was_page_time
        if state.footnotes.is_closed:  # else once all ids are known
            state.check_links()
        return made

    return Repeated(make, is_static)


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


def page_names(values: PageValues, features: ReferenceFeatures) -> dict[str, object]:
    """Return the names that running content and boxes of pages read."""
    names: dict[str, object] = {"page": page_record(values)}
    if features.running:
        names[RUNNING] = running_record(values, features.running)
    if SHEET in features.given_names:
        names[SHEET] = sheet_record(values)
    return names


def page_record(values: PageValues) -> dict[str, object]:
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


def sheet_record(values: PageValues) -> dict[str, object]:
    """Return the record that `sheet` reads."""
    return {
        "number": Decimal(values.sheet),
        "count": Decimal(values.sheets),
        "is_front": values.is_front,
    }


def running_record(values: PageValues, names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the record that `running` reads; texts are empty before the first page that sets them."""
    none = dict.fromkeys(RUNNING_MEMBERS, "")
    found = {
        each.name: dict(zip(RUNNING_MEMBERS, each[1:], strict=True)) for each in values.running
    }
    return {name: found.get(name, none) for name in names}
