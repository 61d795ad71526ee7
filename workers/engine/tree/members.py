"""Members that no declaration and no data have, though an expression reads them.

A record is judged where a field declares something in it. What is read with `default`, or asked
whether it is defined, may be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from jinja2 import nodes

from workers.engine.diagnostics import Findings, Place
from workers.engine.merge.declarations import DataPath, Declarations
from workers.engine.syntax import values as v
from workers.engine.syntax.nodes import Element, Text
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.grammar import (
    Expression,
    ExpressionSyntaxError,
    parse_expression,
    parse_text,
)
from workers.engine.tree.runtime import suggest

_FORGIVING: Final = frozenset({"default", "defined", "undefined"})
_MAX_USES: Final = 1000  # that one template is warned of
_MAX_KEPT: Final = 2000  # characters of a text whose members are kept in mind
_MAX_ROWS: Final = 100  # records of a list that are looked through for a member


@dataclass(frozen=True, slots=True)
class MemberUse:
    """A member that an expression reads of a declared record, and that no declaration has.

    `path` leads to the record from the top, or from a record of the dataset at `rows`.
    """

    name: str
    path: DataPath
    rows: DataPath | None
    declared: tuple[str, ...]
    expression: str
    place: Place


def find_member_uses(root: Element, declarations: Declarations) -> tuple[MemberUse, ...]:
    """Find the members read that only data can have, once for all documents of a template."""
    if not (declarations.fields or declarations.datasets):
        return ()
    top = _Shape()
    for declared in declarations.fields:
        _declare(top, declared.path)
    for dataset in declarations.datasets:
        shape = _declare(top, dataset.path)
        shape.records = _Shape(rows=dataset.path)
        shape.is_declared = bool(dataset.fields)
        for declared in dataset.fields:
            _declare(shape.records, declared.path)
    walk = _Walk(top)
    walk.walk(root, {})
    return tuple(walk.uses)


def check_member_uses(
    uses: Iterable[MemberUse], data: Mapping[str, Any], findings: Findings
) -> None:
    """Warn of members that neither the data section nor the data of this call have."""
    for use in uses:
        known = _find_known(use, data)
        if known is not None and use.name not in known:
            findings.warn(
                "undeclared-member",
                f'No field and no data have the member "{use.name}" in '
                f"{{{{ {use.expression[:80]} }}}}{suggest(use.name, {*use.declared, *known})}",
                use.place,
            )


def _find_known(use: MemberUse, data: Mapping[str, Any]) -> set[str] | None:
    """Return the members the record has in these data; None where they have a list there."""
    if use.rows is None:
        record = _follow(data, use.path)
        return None if isinstance(record, list) else _names_of(record)
    rows = _follow(data, use.rows)
    known: set[str] = set()
    for row in rows[:_MAX_ROWS] if isinstance(rows, list) else ():
        known |= _names_of(_follow(row, use.path))
    return known


def _follow(value: Any, path: DataPath) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _names_of(record: Any) -> set[str]:
    return {str(name) for name in record} if isinstance(record, Mapping) else set()


@dataclass(slots=True)
class _Shape:
    """What is declared of a value: its members, or those of its records if it is a list of them."""

    path: DataPath = ()
    rows: DataPath | None = None
    members: dict[str, _Shape] = field(default_factory=dict)
    is_declared: bool = False
    records: _Shape | None = None


def _declare(shape: _Shape, path: DataPath) -> _Shape:
    for step in path:
        shape.is_declared = True
        inner = shape.members.get(step)
        if inner is None:
            inner = shape.members[step] = _Shape((*shape.path, step), shape.rows)
        shape = inner
    return shape


class _Walk:
    """One walk over a document; names that a loop or a `let` sets stand before those of the data."""

    def __init__(self, top: _Shape) -> None:
        self._top = top
        self.uses: list[MemberUse] = []

    def walk(self, element: Element, names: Mapping[str, _Shape | None]) -> None:
        if element.is_literal or element.tag not in ELEMENTS:
            return
        inner = dict(names)
        if "for" in element.attributes:
            inner |= self._loop(element, names)
        specs = ELEMENTS[element.tag].attributes
        for name, text in element.attributes.items():
            if name != "for" and name in specs:
                self._judge(text, inner, element.place, is_bare=specs[name].is_expression)
        for child in element.children:
            if isinstance(child, Text):
                if not child.is_literal and element.tag != "json":
                    self._judge(child.text, inner, element.place, is_bare=False)
                continue
            self.walk(child, inner)
            if child.tag == "let":
                inner[child.attributes.get("name", "")] = None

    def _loop(
        self, element: Element, names: Mapping[str, _Shape | None]
    ) -> dict[str, _Shape | None]:
        try:
            clause = v.LOOP.parse(element.attributes["for"])
            parse_expression(clause.expression)
        except (ValueError, ExpressionSyntaxError):
            return {}
        self._judge(clause.expression, names, element.place, is_bare=True)
        items = self._find(_chain_of(parse_expression(clause.expression).node), names)
        made: dict[str, _Shape | None] = {"loop": None, clause.name: None}
        if clause.key:
            made[clause.key] = None
        elif items is not None and items.records is not None:
            made[clause.name] = items.records
        return made

    def _judge(
        self, text: str, names: Mapping[str, _Shape | None], place: Place, *, is_bare: bool
    ) -> None:
        if "." not in text or not (is_bare or "{{" in text):
            return
        read = _read_chains_once if len(text) <= _MAX_KEPT else _read_chains
        for expression, chains in read(text, is_bare=is_bare):
            for *path, name in chains:
                record = self._find(path, names)
                if record is None or record.records is not None or not record.is_declared:
                    continue
                if name not in record.members and len(self.uses) < _MAX_USES:
                    declared = tuple(record.members)
                    use = MemberUse(name, record.path, record.rows, declared, expression, place)
                    self.uses.append(use)

    def _find(
        self, chain: Sequence[str] | None, names: Mapping[str, _Shape | None]
    ) -> _Shape | None:
        """Return what is declared of a name, or of a member of one; None for anything else."""
        if not chain:
            return None
        first = chain[0]
        shape = names[first] if first in names else self._top.members.get(first)
        for step in chain[1:]:
            if shape is None or shape.records is not None:
                return None
            shape = shape.members.get(step)
        return shape


_Chains = tuple[tuple[str, ...], ...]


# Documents without a template are compiled for each render, mostly with the same expressions.
@lru_cache(maxsize=512)
def _read_chains_once(text: str, *, is_bare: bool) -> tuple[tuple[str, _Chains], ...]:
    return _read_chains(text, is_bare=is_bare)


def _read_chains(text: str, *, is_bare: bool) -> tuple[tuple[str, _Chains], ...]:
    """Return the expressions of a text, each with the members it reads as names in a row."""
    try:
        found = (parse_expression(text),) if is_bare else parse_text(text).expressions
    except ExpressionSyntaxError:
        return ()  # told where it is compiled
    return tuple((parsed.text, chains) for parsed in found if (chains := _chains_of(parsed)))


def _chains_of(parsed: Expression) -> _Chains:
    calls = (parsed.node, *parsed.node.find_all((nodes.Filter, nodes.Test)))
    if any(getattr(call, "name", None) in _FORGIVING for call in calls):
        return ()
    members = (parsed.node, *parsed.node.find_all(nodes.Getattr))
    chains = (_chain_of(member) for member in members if isinstance(member, nodes.Getattr))
    return tuple(chain for chain in chains if chain is not None)


def _chain_of(node: nodes.Node) -> tuple[str, ...] | None:
    """Return a name and the members read of it, None for anything else."""
    names: list[str] = []
    while isinstance(node, nodes.Getattr):
        names.append(node.attr)
        node = node.node
    if not isinstance(node, nodes.Name):
        return None
    return (node.name, *reversed(names))
