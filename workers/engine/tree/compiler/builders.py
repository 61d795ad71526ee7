"""Node builders: compiled content, joined in order, and cached where it does not depend on data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from workers.engine.diagnostics import SourceLocation
from workers.engine.tree.build_state import Scope
from workers.engine.tree.nodes import Source
from workers.engine.tree.styles.cascade import (
    MAX_CACHED,
    ComputedStyle,
)

# What builders append to: blocks, list items, rows of a table, or the ids in a paragraph.
Nodes = list[Any]
BuildNodes = Callable[[Scope, ComputedStyle, Nodes], None]


class NodeBuilder(NamedTuple):
    """Compiled content. A static builder makes the same nodes for the same parent style."""

    build: BuildNodes
    is_static: bool


def cache_static(builders: Iterable[NodeBuilder]) -> NodeBuilder:
    """Join builders in order; runs of static ones are built once for each parent style."""
    runs = groupby(builders, key=attrgetter("is_static"))
    return sequence(
        builder
        for is_static, state in runs
        for builder in ((cached(sequence(state)),) if is_static else state)
    )


def cached(builder: NodeBuilder) -> NodeBuilder:
    """Return a builder that makes the nodes of a static one once for each parent style.

    Nodes are not cached if building them reported a finding, so that each document has its
    findings.
    """
    if not builder.is_static:
        return builder
    made: dict[Any, tuple[Any, ...]] = {}
    build = builder.build

    def build_once(scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        steps = scope.loop
        if steps and steps[-1].is_iteration:  # its nodes hold the iteration
            build(scope, parent, out)
            return
        key: Any = (parent, steps) if steps else parent
        nodes = made.get(key)
        if nodes is None:
            fresh: Nodes = []
            findings = scope.state.findings
            reports_before = findings.report_count
            build(scope, parent, fresh)
            nodes = tuple(fresh)
            if len(made) < MAX_CACHED and findings.report_count == reports_before:
                made[key] = nodes
        out += nodes

    return NodeBuilder(build_once, is_static=True)


def sequence(builders: Iterable[NodeBuilder]) -> NodeBuilder:
    """Join builders to one that runs them in order."""
    kept = tuple(builders)
    if len(kept) == 1:
        return kept[0]
    return NodeBuilder(
        _Sequence(builder.build for builder in kept), all(builder.is_static for builder in kept)
    )


class _Sequence:
    """Runs builders in order. A class with slots, as a document may have one for each element."""

    __slots__ = ("builds",)

    def __init__(self, builds: Iterable[BuildNodes]) -> None:
        self.builds = tuple(builds)

    def __call__(self, scope: Scope, parent: ComputedStyle, out: Nodes) -> None:
        for build in self.builds:
            build(scope, parent, out)


def source_maker(location: SourceLocation) -> Callable[[Scope], Source]:
    """Return a function that makes the sources of an element: one object outside of loops."""
    plain = Source(location)

    def make(scope: Scope) -> Source:
        loop = scope.loop
        return Source(location, loop) if loop else plain

    return make
